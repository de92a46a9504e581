// SPDX-License-Identifier: Apache-2.0

/// The systemd units of a user. Packages have the same units: `Samples/packaging/build.sh` runs `setup` to
/// get them.
enum PackagedUserUnits {
  /// The name and the text of each unit.
  static let files: [(name: String, text: String)] = [
    (
      "glucoport-backup.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Copy the glucose readings and records
      Documentation=man:glucoport-operation(7) man:glucoport-backup(1)
      ConditionPathExists=%h/.local/share/glucoport/logbook.db
      # A person makes this folder for the copies.
      ConditionPathIsDirectory=%h/.local/state/glucoport/backup
      OnFailure=glucoport-notify@%n.service

      [Service]
      Type=oneshot
      ExecStart=/usr/bin/glucoport backup --keep 7 --quiet %h/.local/state/glucoport/backup
      # Another backup writes the same file.
      SuccessExitStatus=75
      \#(confinement)
      RestrictAddressFamilies=AF_UNIX

      """#
    ),
    (
      "glucoport-backup.timer",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Copy the glucose readings and records every night
      Documentation=man:glucoport-operation(7)

      [Timer]
      OnCalendar=03:30
      Persistent=true
      RandomizedDelaySec=30min

      [Install]
      WantedBy=timers.target

      """#
    ),
    (
      "glucoport-check.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Check whether glucose readings and records need attention
      Documentation=man:glucoport-operation(7) man:glucoport-status(1)
      ConditionPathExists=%h/.local/share/glucoport/logbook.db
      OnFailure=glucoport-notify@%n.service

      [Service]
      Type=oneshot
      ExecStart=/usr/bin/glucoport status --check --max-age 36h --max-reading-age 7d --quiet
      \#(confinement)
      RestrictAddressFamilies=AF_UNIX

      """#
    ),
    (
      "glucoport-check.timer",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Check once a day whether glucose readings and records need attention
      Documentation=man:glucoport-operation(7)

      [Timer]
      OnCalendar=08:00
      Persistent=true
      RandomizedDelaySec=10min

      [Install]
      WantedBy=timers.target

      """#
    ),
    (
      "glucoport-fetch.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Fetch glucose readings from the sources
      Documentation=man:glucoport-operation(7) man:glucoport-fetch(1)
      ConditionPathExists=%h/.local/share/glucoport/logbook.db

      [Service]
      Type=oneshot
      ExecStart=/usr/bin/glucoport fetch --unattended --quiet --max-time 10m
      # Without a network, and while another fetch runs, the next run does the work. What needs a person is reported by
      # glucoport-check.service once a day: a rejected login, answers without data, a person who is gone, no source.
      SuccessExitStatus=3 65 66 75 76 77 78
      TimeoutStartSec=20min
      UMask=0077
      # The program of a source may need more than glucoport does.
      NoNewPrivileges=yes
      RestrictSUIDSGID=yes

      """#
    ),
    ("glucoport-fetch.timer", PackagedSystemUnits.fetchTimer),
    (
      "glucoport-meter.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # Started by 70-glucoport.rules when a known meter is plugged in: imports it, and then uploads.
      [Unit]
      Description=Import the glucose meter that was plugged in
      Documentation=man:glucoport-operation(7) man:glucoport-import(1)
      ConditionPathExists=%h/.local/share/glucoport/logbook.db
      # The person has walked away, and trusts that the readings are stored.
      OnFailure=glucoport-notify@%n.service

      [Service]
      Type=oneshot
      ExecStart=/usr/bin/glucoport import --meter --if-present --quiet
      # The readings are stored, also if this fails: the timer tries again.
      ExecStartPost=-/usr/bin/glucoport upload --unattended --quiet --lock-wait 60s --max-time 10m
      # A meter that was unplugged again, and a store that another program writes: neither is a fault. A meter that does not
      # answer, that another program uses or that is mounted as a disk ends with 69, which is one.
      SuccessExitStatus=75
      TimeoutStartSec=20min
      \#(confinement)
      # libusb hears of devices by netlink.
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

      """#
    ),
    (
      "glucoport-meter-bluetooth.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # Waits for a paired Bluetooth meter, imports it, and then uploads. Without a meter in reach it does nothing.
      [Unit]
      Description=Import the Bluetooth glucose meter that came near
      Documentation=man:glucoport-operation(7) man:glucoport-meter(1)
      ConditionPathExists=%h/.local/share/glucoport/logbook.db
      ConditionPathExists=%h/.local/share/glucoport/bluetooth.json
      OnFailure=glucoport-notify@%n.service

      [Service]
      Type=oneshot
      # bluetoothd connects a paired meter that comes near, without a search. Without such help of it, meters are searched for
      # during the 30 seconds for which one advertises.
      ExecCondition=/usr/bin/glucoport meter wait --connect --seconds 3600 --quiet
      ExecStart=/usr/bin/glucoport import --meter --driver bluetooth-glucose --if-present --quiet
      ExecStartPost=-/usr/bin/glucoport upload --unattended --quiet --lock-wait 60s --max-time 10m
      # A meter that left again, and a store that another program writes.
      SuccessExitStatus=75
      TimeoutStartSec=80min
      \#(confinement)
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

      """#
    ),
    ("glucoport-meter-bluetooth.timer", PackagedSystemUnits.bluetoothTimer),
    (
      "glucoport-notify@.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      # The text names a unit and a command, and no value: others may see the screen.
      [Unit]
      Description=Notify the desktop that %i failed
      Documentation=man:glucoport-operation(7)
      ConditionPathExists=/usr/bin/notify-send

      [Service]
      Type=oneshot
      ExecStart=/usr/bin/notify-send --app-name=glucoport --icon=dialog-warning "glucoport needs attention" "Run 'systemctl --user status %i' to see why."

      """#
    ),
    (
      "glucoport-upload.service",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Upload glucose readings and records
      Documentation=man:glucoport-operation(7) man:glucoport-upload(1)
      ConditionPathExists=%h/.local/share/glucoport/logbook.db

      [Service]
      Type=oneshot
      ExecStart=/usr/bin/glucoport upload --unattended --quiet --lock-wait 60s --max-time 10m
      # Without a network, and while another upload runs, the next run does the work. 3 and 4 need a person, whom
      # glucoport-check.service informs once a day.
      SuccessExitStatus=3 4 69 75
      TimeoutStartSec=20min
      \#(confinement)
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6

      """#
    ),
    (
      "glucoport-upload.timer",
      #"""
      # SPDX-License-Identifier: Apache-2.0
      [Unit]
      Description=Upload glucose readings and records every quarter of an hour
      Documentation=man:glucoport-operation(7)

      [Timer]
      OnCalendar=*:0/15
      Persistent=true
      RandomizedDelaySec=60
      AccuracySec=30s

      [Install]
      WantedBy=timers.target

      """#
    ),
  ]

  /// The restrictions of a service that a user's service manager can set without privileges.
  private static let confinement = """
    UMask=0077
    NoNewPrivileges=yes
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service
    SystemCallErrorNumber=EPERM
    """
}
