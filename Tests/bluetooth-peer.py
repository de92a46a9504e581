#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A peer that answers like bluetoothd with meters in reach, on the bus of DBUS_SYSTEM_BUS_ADDRESS.

The argument is a JSON object with the following members, and their defaults. These are adapters (1), powered (true;
or false, or "blocked"), denied (false), profiles (true), and meters. Each meter has address, name, passkey (null if none is
requested), paired, inReach, and records ([number, hexadecimal bytes]). It also has count, end, values, bonded, lost
(the meter has lost the pairing), adapter and vanishesAfter. The peer prints "ready" when it can be called, and each request to a
meter as a line.

The peer is written from the documents of BlueZ's interfaces and of the Glucose Profile. It does nothing that the
real bluetoothd did not do in Tests/bluetooth.sh: see Tests/bluetooth-facts.py.
"""

import json
import socket
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PROPERTIES = "org.freedesktop.DBus.Properties"
MANAGER = "org.freedesktop.DBus.ObjectManager"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
SERVICE = "org.bluez.GattService1"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
AGENT = "org.bluez.Agent1"
GATT_MANAGER = "org.bluez.GattManager1"
objects = {}
bus = None


def long_form(number):
    return "0000%04x-0000-1000-8000-00805f9b34fb" % number


def say(text):
    print(text, flush=True)


class Error(dbus.DBusException):
    def __init__(self, code, words=""):
        super().__init__(words or code, name="org.bluez.Error." + code)


class Node(dbus.service.Object):
    """An object with one interface of BlueZ and its properties."""

    def __init__(self, path, interface, properties):
        super().__init__(bus, path)
        self.path, self.kind, self.values = path, interface, properties
        objects[path] = self

    def change(self, **values):
        self.values.update(values)
        self.PropertiesChanged(self.kind, dbus.Dictionary(values, signature="sv"), dbus.Array([], signature="s"))

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(PROPERTIES, in_signature="ssv")
    def Set(self, interface, name, value):
        self.set(str(name), value)

    def set(self, name, value):
        self.change(**{name: value})


class Root(dbus.service.Object):
    @dbus.service.method(MANAGER, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        if options.get("denied"):
            raise dbus.DBusException("rejected", name="org.freedesktop.DBus.Error.AccessDenied")
        return {
            dbus.ObjectPath(node.path): {node.kind: dbus.Dictionary(node.values, signature="sv")}
            for node in objects.values()
        }

    @dbus.service.signal(MANAGER, signature="oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass


class AgentManager(dbus.service.Object):
    agent = None

    @dbus.service.method("org.bluez.AgentManager1", in_signature="os", sender_keyword="sender")
    def RegisterAgent(self, path, capability, sender):
        say("agent " + capability)
        AgentManager.agent = (sender, path)

    @dbus.service.method("org.bluez.AgentManager1", in_signature="o")
    def UnregisterAgent(self, path):
        AgentManager.agent = None


class Adapter(Node):
    def __init__(self, path, interface, properties):
        super().__init__(path, interface, properties)
        self.applications = set()

    def set(self, name, value):
        if options.get("powered") == "blocked":
            raise Error("Failed", "Failed")
        super().set(name, value)

    @dbus.service.method(ADAPTER, in_signature="a{sv}")
    def SetDiscoveryFilter(self, properties):
        say("filter %s %s" % (properties["Transport"], " ".join(properties["UUIDs"])))

    @dbus.service.method(ADAPTER)
    def StartDiscovery(self):
        if not self.values["Powered"]:
            raise Error("NotReady", "Resource Not Ready")
        for meter in meters:
            if meter.adapter is self and meter.options.get("inReach", True):
                GLib.timeout_add(50, meter.appear)

    @dbus.service.method(ADAPTER)
    def StopDiscovery(self):
        for meter in meters:
            if meter.adapter is self and meter.values.pop("RSSI", None) is not None:
                meter.PropertiesChanged(DEVICE, dbus.Dictionary({}, signature="sv"), dbus.Array(["RSSI"], signature="s"))

    @dbus.service.method(
        GATT_MANAGER, in_signature="oa{sv}", sender_keyword="sender", async_callbacks=("done", "failed"))
    def RegisterApplication(self, path, properties, sender, done, failed):
        if not options.get("profiles", True):
            return failed(Error("NotSupported", "Operation is not supported"))

        def answered(found):
            for interfaces in found.values():
                for uuid in interfaces["org.bluez.GattProfile1"]["UUIDs"]:
                    say("profile " + uuid)
            self.applications.add((sender, path))
            done()
            for meter in meters:
                if meter.adapter is self and meter.values["Paired"] and meter.options.get("inReach", True):
                    GLib.timeout_add(50, meter.approach)

        application = dbus.Interface(bus.get_object(sender, path, introspect=False), MANAGER)
        application.GetManagedObjects(reply_handler=answered, error_handler=lambda error: failed(Error("Failed", str(error))))

    @dbus.service.method(GATT_MANAGER, in_signature="o", sender_keyword="sender")
    def UnregisterApplication(self, path, sender):
        say("no profile")
        self.applications.discard((sender, path))

    @dbus.service.method(ADAPTER, in_signature="o")
    def RemoveDevice(self, path):
        if path not in objects:
            raise Error("DoesNotExist", "Does Not Exist")
        say("removed " + path)
        objects.pop(path).disappear()


class Characteristic(Node):
    def __init__(self, meter, service, number, flags, value=None):
        path = "%s/char%04x" % (service, len(objects))
        values = {"UUID": long_form(number), "Service": dbus.ObjectPath(service), "Flags": dbus.Array(flags, signature="s")}
        if "notify" in flags or "indicate" in flags:
            values["Notifying"] = False
        if "notify" in flags and meter.options.get("sockets", True):
            values["NotifyAcquired"] = False
        super().__init__(path, CHARACTERISTIC, values)
        self.meter, self.number, self.value, self.socket, self.is_on = meter, number, value, None, False

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="ay")
    def ReadValue(self, properties):
        self.meter.require_connection()
        if self.value is None:
            raise Error("NotPermitted", "Read not permitted")
        return dbus.Array(self.value, signature="y")

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self):
        self.meter.require_connection()
        self.is_on = True

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="hq")
    def AcquireNotify(self, properties):
        self.meter.require_connection()
        if "NotifyAcquired" not in self.values:
            raise Error("NotSupported", "Operation is not supported")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket, self.is_on = ours, True
        return dbus.types.UnixFd(theirs), dbus.UInt16(23)

    @dbus.service.method(CHARACTERISTIC, in_signature="aya{sv}")
    def WriteValue(self, value, properties):
        self.meter.require_connection()
        self.meter.request(self, bytes(value), properties)

    def send(self, value):
        if not self.is_on:
            return
        if self.socket:
            self.socket.send(bytes(value))
        else:
            self.change(Value=dbus.Array(value, signature="y"))

    def stop(self):
        if self.socket:
            self.socket.close()
        self.socket, self.is_on = None, False


def services():
    return dbus.Array([long_form(0x1800), long_form(0x1808)], signature="s")


class Meter(Node):
    def __init__(self, adapter, settings):
        self.options, self.adapter, self.characteristics, self.sent = settings, adapter, [], 0
        path = adapter.path + "/dev_" + settings["address"].replace(":", "_")
        values = {"Address": settings["address"], "Name": settings["name"], "Alias": settings["name"],
                  "Paired": settings.get("paired", False), "Trusted": settings.get("paired", False),
                  "Connected": False, "ServicesResolved": False,
                  "UUIDs": services()}
        super().__init__(path, DEVICE, values)
        if not settings.get("paired"):
            objects.pop(path)

    def appear(self):
        if self.path not in objects:
            objects[self.path] = self
            root.InterfacesAdded(self.path, {DEVICE: dbus.Dictionary(self.values, signature="sv")})
        self.change(RSSI=dbus.Int16(-60))
        return False

    def approach(self):
        """Connects a paired meter that advertises, if a program has registered a profile for it."""
        if self.adapter.applications and self.values["Paired"]:
            self.Connect()
        return False

    def disappear(self):
        self.drop()
        self.values["Paired"] = self.values["Trusted"] = False
        self.values["UUIDs"] = services()
        self.values.pop("RSSI", None)

    def require_connection(self):
        if not self.values["Connected"]:
            raise Error("Failed", "Not connected")

    @dbus.service.method(DEVICE, async_callbacks=("done", "failed"))
    def Pair(self, done, failed):
        if self.values["Paired"]:
            return failed(Error("AlreadyExists", "Already Exists"))
        if self.options.get("passkey") is None:
            self.change(Paired=True)
            return done()
        if AgentManager.agent is None:
            return failed(Error("AuthenticationFailed", "Authentication Failed"))

        def answered(number):
            say("passkey %06d" % number)
            if number != self.options["passkey"]:
                # The meter stays known, but the content of its advertisement is forgotten.
                self.values["UUIDs"] = dbus.Array([], signature="s")
                return failed(Error("AuthenticationFailed", "Authentication Failed"))
            self.change(Paired=True)
            done()

        sender, path = AgentManager.agent
        agent = dbus.Interface(bus.get_object(sender, path, introspect=False), AGENT)
        agent.RequestPasskey(dbus.ObjectPath(self.path), reply_handler=answered,
                             error_handler=lambda error: failed(Error("AuthenticationCanceled", "Authentication Canceled")))

    @dbus.service.method(DEVICE)
    def Connect(self):
        if not self.options.get("inReach", True) or self.options.get("lost"):
            raise Error("Failed", "le-connection-abort-by-local")
        if self.values["Connected"]:
            return
        say("connected " + self.options["address"])
        self.sent = 0
        self.change(Connected=True)
        GLib.timeout_add(50, self.resolve)

    @dbus.service.method(DEVICE)
    def Disconnect(self):
        self.drop()

    def drop(self):
        if self.values["Connected"]:
            say("disconnected " + self.options["address"])
        for node in self.characteristics:
            node.stop()
        self.change(Connected=False, ServicesResolved=False)

    def resolve(self):
        if not self.characteristics:
            self.build()
        self.change(ServicesResolved=True)
        return False

    def build(self):
        values = {int(number, 16): bytes.fromhex(value) for number, value in self.options.get("values", {}).items()}
        # A Guide has a second control point in a service of its maker. Here, this service comes first.
        vendor = self.path + "/service0001"
        Node(vendor, SERVICE, {"UUID": "00000000-0000-1000-1000-000000000000", "Primary": True})
        self.characteristics.append(Characteristic(self, vendor, 0x2A52, ["write", "indicate"]))
        information = self.path + "/service0010"
        Node(information, SERVICE, {"UUID": long_form(0x180A), "Primary": True})
        for number in (0x2A29, 0x2A24, 0x2A25, 0x2A26):
            if number in values:
                self.characteristics.append(Characteristic(self, information, number, ["read"], values[number]))
        glucose = self.path + "/service0020"
        Node(glucose, SERVICE, {"UUID": long_form(0x1808), "Primary": True})
        self.nodes = {
            0x2A18: Characteristic(self, glucose, 0x2A18, ["notify"]),
            0x2A34: Characteristic(self, glucose, 0x2A34, ["notify"]),
            0x2A51: Characteristic(self, glucose, 0x2A51, ["read"], values.get(0x2A51, b"\xff\x03")),
            0x2A52: Characteristic(self, glucose, 0x2A52, ["write", "indicate"]),
        }
        self.characteristics += self.nodes.values()

    def request(self, node, value, properties):
        say("write %s %s" % (value.hex(), properties.get("type")))
        if node is not self.nodes[0x2A52]:
            raise Error("Failed", "Operation failed with ATT error: 0x80")
        if not self.values["Paired"] or not self.options.get("bonded", True):
            raise Error("NotPermitted", "Not paired")
        if not self.nodes[0x2A18].is_on or not node.is_on:
            raise Error("Failed", "Operation failed with ATT error: 0x81")
        records = self.options.get("records", [])
        if value == b"\x04\x01":
            count = self.options.get("count", sum(number == "2a18" for number, _ in records))
            self.later([["2a52", "0500%02x%02x" % (count & 255, count >> 8)]])
        elif value == b"\x01\x01":
            end = "06000101" if records else "06000106"
            self.later(records + [["2a52", self.options.get("end", end)]])
        elif len(value) == 5 and value[1:3] == b"\x03\x01" and value[0] in (1, 4):
            least = value[3] | value[4] << 8
            newer = [[number, text] for number, text in records if least <= int(text[4:6] + text[2:4], 16)]
            if value[0] == 4:
                count = sum(number == "2a18" for number, _ in newer)
                self.later([["2a52", "0500%02x%02x" % (count & 255, count >> 8)]])
            else:
                self.later(newer + [["2a52", "06000101" if newer else "06000106"]])
        else:
            self.later([["2a52", "0600%02x02" % value[0]]])

    def later(self, notifications):
        rest = list(notifications)

        def step():
            if not self.values["Connected"]:
                return False
            if self.sent >= self.options.get("vanishesAfter", 1 << 30):
                self.drop()
                return False
            if not rest:
                return False
            number, value = rest.pop(0)
            self.sent += 1
            if value:
                self.nodes[int(number, 16)].send(bytes.fromhex(value))
            return bool(rest) or "vanishesAfter" in self.options

        GLib.timeout_add(self.options.get("milliseconds", 1), step)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
options = json.loads(sys.argv[1])
bus = dbus.SystemBus()
root = Root(bus, "/")
manager = AgentManager(bus, "/org/bluez")
adapters = [
    Adapter("/org/bluez/hci%d" % number, ADAPTER, {"Powered": options.get("powered", True) is True})
    for number in range(options.get("adapters", 1))
]
meters = [Meter(adapters[settings.get("adapter", 0)], settings) for settings in options.get("meters", [])]
name = dbus.service.BusName("org.bluez", bus)
say("ready")
GLib.MainLoop().run()
