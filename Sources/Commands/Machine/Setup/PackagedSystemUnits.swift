// SPDX-License-Identifier: Apache-2.0

/// The systemd units for the whole system. Packages have the same units: `Samples/packaging/build.sh` runs
/// `setup` to get them.
enum PackagedSystemUnits {
  /// The name and the text of each unit.
  static let files: [(name: String, text: String)] = [
    (
      "glucoport-fetch.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # For a computer without a login: fetches from the sources of the store of glucoport-import@.service, which
      # glucoport-source(1) sets as the user glucoport.
      [Unit]
      Description=Fetch glucose readings from the sources
      Documentation=man:glucoport-operation(7) man:glucoport-fetch(1)
      ConditionPathExists=/var/lib/glucoport-import/logbook.db

      [Service]
      Type=oneshot
      Environment=GLUCOPORT_STORE=/var/lib/glucoport-import/logbook.db
      ExecStart=/usr/bin/glucoport fetch --unattended --quiet --max-time 10m
      # Without a network, and while another fetch runs, the next run does the work. 'glucoport status --check' reports what
      # needs a person.
      SuccessExitStatus=3 65 66 75 76 77 78
      TimeoutStartSec=20min
      User=glucoport
      StateDirectory=glucoport-import
      StateDirectoryMode=0700
      PrivateDevices=yes
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
      \#(confinement)

      """#
    ),
    ("glucoport-fetch.timer", fetchTimer),
    (
      "glucoport-import@.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # For a kiosk or a clinic without a login: started for a device by a rule of udev, which glucoport-operation(7) shows. The
      # store is /var/lib/glucoport-import/logbook.db, which the first import creates in the time zone of the system.
      [Unit]
      Description=Import the glucose meter at %i
      Documentation=man:glucoport-operation(7) man:glucoport-import(1)

      [Service]
      Type=oneshot
      Environment=GLUCOPORT_STORE=/var/lib/glucoport-import/logbook.db
      ExecStart=/usr/bin/glucoport import --meter --if-present --quiet
      ExecStartPost=-/usr/bin/glucoport upload --unattended --quiet --lock-wait 60s --max-time 10m
      # A meter that was unplugged again, and a store that another program writes.
      SuccessExitStatus=75
      TimeoutStartSec=20min
      User=glucoport
      SupplementaryGroups=plugdev
      StateDirectory=glucoport-import
      StateDirectoryMode=0700
      DeviceAllow=char-usb_device rw
      DeviceAllow=char-hidraw rw
      DeviceAllow=char-ttyUSB rw
      DeviceAllow=char-ttyACM rw
      # libusb hears of devices by netlink.
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
      \#(confinement)

      """#
    ),
    (
      "glucoport-meter-bluetooth.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # For a computer without a login: waits for a Bluetooth meter that the user glucoport has paired, imports it into the store
      # of glucoport-import@.service, and then uploads. Without a meter in reach it does nothing.
      [Unit]
      Description=Import the Bluetooth glucose meter that came near
      Documentation=man:glucoport-operation(7) man:glucoport-meter(1)
      ConditionPathExists=/var/lib/glucoport-import/glucoport/bluetooth.json

      [Service]
      Type=oneshot
      Environment=GLUCOPORT_STORE=/var/lib/glucoport-import/logbook.db
      # The list of paired meters is there.
      Environment=XDG_DATA_HOME=/var/lib/glucoport-import
      # bluetoothd connects a paired meter that comes near, without a search. Without such help of it, meters are searched for
      # during the 30 seconds for which one advertises.
      ExecCondition=/usr/bin/glucoport meter wait --connect --seconds 3600 --quiet
      ExecStart=/usr/bin/glucoport import --meter --driver bluetooth-glucose --if-present --quiet
      ExecStartPost=-/usr/bin/glucoport upload --unattended --quiet --lock-wait 60s --max-time 10m
      # A meter that left again, and a store that another program writes.
      SuccessExitStatus=75
      TimeoutStartSec=80min
      User=glucoport
      StateDirectory=glucoport-import
      StateDirectoryMode=0700
      PrivateDevices=yes
      # bluetoothd has the adapter, and is reached over a Unix socket; the upload goes by IP.
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
      \#(confinement)

      """#
    ),
    ("glucoport-meter-bluetooth.timer", bluetoothTimer),
    (
      "glucoport-server.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # Further options are in /etc/default/glucoport-server; glucoport-operation(7) shows TLS and a proxy in front. If
      # glucoport-server.socket is started, its sockets are used and stay open while the server is restarted.
      [Unit]
      Description=Server that keeps glucose logbooks in sync
      Documentation=man:glucoport-operation(7) man:glucoport-serve(1)
      After=network-online.target
      Wants=network-online.target

      [Service]
      Type=notify
      EnvironmentFile=-/etc/default/glucoport-server
      ExecStart=/usr/bin/glucoport serve --data /var/lib/glucoport --quiet $SERVE_OPTIONS
      # Reads the certificate and the key again.
      ExecReload=/bin/kill -HUP $MAINPID
      WatchdogSec=60
      User=glucoport
      StateDirectory=glucoport
      StateDirectoryMode=0700
      Restart=on-failure
      RestartSec=5
      # Requests that run are finished first.
      TimeoutStopSec=90
      MemoryMax=512M
      TasksMax=512
      LimitNOFILE=4096
      PrivateDevices=yes
      PrivateUsers=yes
      ProcSubset=pid
      # systemd is informed by a Unix socket.
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
      \#(confinement)

      [Install]
      WantedBy=multi-user.target

      """#
    ),
    (
      "glucoport-server.socket",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # The sockets of glucoport-server.service, which stay open while it is restarted, so that no request is refused.
      [Unit]
      Description=Sockets of the server that keeps glucose logbooks in sync
      Documentation=man:glucoport-operation(7) man:glucoport-serve(1)

      [Socket]
      ListenStream=127.0.0.1:8077

      [Install]
      WantedBy=sockets.target

      """#
    ),
  ]

  /// The timer that starts the search for Bluetooth meters. It is the same in the system's units and in the
  /// users' units.
  static let bluetoothTimer = #"""
    # SPDX-License-Identifier: Apache-2.0
    [Unit]
    Description=Wait for Bluetooth glucose meters that come near
    Documentation=man:glucoport-operation(7)

    [Timer]
    OnActiveSec=5
    # Long enough that a meter which was read has gone to sleep, and shorter than the time for which another one advertises.
    OnUnitInactiveSec=25
    AccuracySec=1s

    [Install]
    WantedBy=timers.target

    """#

  /// The timer that starts `fetch`. It is the same in the system's units and in the users' units.
  static let fetchTimer = #"""
    # SPDX-License-Identifier: Apache-2.0
    [Unit]
    Description=Fetch glucose readings from the sources every five minutes
    Documentation=man:glucoport-operation(7)

    [Timer]
    # Each source has its own interval, which the program holds.
    OnCalendar=*:0/5
    RandomizedDelaySec=30
    AccuracySec=30s

    [Install]
    WantedBy=timers.target

    """#

  /// The settings that remove rights from a service. None of the services needs these rights.
  private static let confinement = """
    UMask=0077
    CapabilityBoundingSet=
    AmbientCapabilities=
    NoNewPrivileges=yes
    DevicePolicy=closed
    KeyringMode=private
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    PrivateTmp=yes
    ProtectClock=yes
    ProtectControlGroups=yes
    ProtectHome=yes
    ProtectHostname=yes
    ProtectKernelLogs=yes
    ProtectKernelModules=yes
    ProtectKernelTunables=yes
    ProtectProc=invisible
    ProtectSystem=strict
    RemoveIPC=yes
    RestrictNamespaces=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    SystemCallArchitectures=native
    SystemCallErrorNumber=EPERM
    SystemCallFilter=@system-service
    SystemCallFilter=~@privileged @resources
    """
}
