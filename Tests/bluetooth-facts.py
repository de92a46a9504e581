#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Watches a D-Bus, and prints each kind of action of bluetoothd once, as a line: answers, errors, properties with
their types, and what signals change. These lines, the facts, have no addresses, names or values of a machine.

  bluetooth-facts.py        the bus of DBUS_SYSTEM_BUS_ADDRESS, else the system's; "ready" is the first line

Tests/Fixtures/bluetoothd-5.66.txt has the facts of the real bluetoothd, recorded in the guest of
Tests/bluetooth.sh. A test checks that Tests/bluetooth-peer.py does nothing that is not in this file.
"""

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

SERVICE = "org.bluez"
PROPERTIES = "org.freedesktop.DBus.Properties"
MANAGER = "org.freedesktop.DBus.ObjectManager"
# The interfaces of bluetoothd that glucoport uses.
USED = {"Adapter1", "Device1", "GattService1", "GattCharacteristic1", "AgentManager1", "Agent1", "GattManager1", "GattProfile1"}
# The interfaces of a program that bluetoothd calls.
OWN = {"Agent1", "GattProfile1", "ObjectManager"}
calls, owners, seen = {}, set(), set()


def say(*words):
    line = " ".join(filter(None, words))
    if line not in seen:
        seen.add(line)
        print(line, flush=True)


def short(interface):
    return interface.rpartition(".")[2]


def signature(value):
    if isinstance(value, dbus.Boolean):
        return "b"
    types = [(dbus.ObjectPath, "o"), (dbus.String, "s"), (dbus.Byte, "y"), (dbus.Int16, "n"), (dbus.UInt16, "q"),
             (dbus.Int32, "i"), (dbus.UInt32, "u"), (dbus.Int64, "x"), (dbus.UInt64, "t"), (dbus.Double, "d")]
    for kind, letter in types:
        if isinstance(value, kind):
            return letter
    if isinstance(value, dbus.Dictionary):
        return "a{%s}" % value.signature
    if isinstance(value, dbus.Array):
        return "a" + str(value.signature)
    return "?"


def take_properties(interfaces):
    for interface, properties in interfaces.items():
        name = short(interface)
        if name not in USED:
            continue
        for key, value in properties.items():
            say("property", name, key, signature(value))
        if name == "GattCharacteristic1":
            for flag in properties.get("Flags", []):
                for key in ("NotifyAcquired", "WriteAcquired", "Notifying"):
                    say("characteristic", "with" if key in properties else "without", key, "can", flag)


def take_signal(member, arguments):
    if member == "PropertiesChanged" and short(arguments[0]) in USED:
        name = short(arguments[0])
        for key, value in arguments[1].items():
            say("property", name, key, signature(value))
            say("changed", name, key, str(bool(value)).lower() if isinstance(value, dbus.Boolean) else "")
        for key in arguments[2]:
            say("invalidated", name, key)
    elif member == "InterfacesAdded":
        take_properties(arguments[1])
        for interface in filter(USED.__contains__, map(short, arguments[1])):
            say("added", interface)
    elif member == "InterfacesRemoved":
        for interface in filter(USED.__contains__, map(short, arguments[1])):
            say("removed", interface)


def take(connection, message):
    kind, sender, receiver = message.get_type(), message.get_sender(), message.get_destination()
    if kind == 1:
        if receiver == SERVICE or sender in owners:
            interface, member = message.get_interface() or "", message.get_member()
            if short(interface) in USED | {"Properties", "ObjectManager"}:
                detail = ".".join(map(str, message.get_args_list()[:2])) if interface == PROPERTIES else ""
                calls[sender, message.get_serial()] = (short(interface), member, detail.rpartition("org.bluez.")[2])
                if sender in owners and short(interface) in OWN:
                    say("call", "%s.%s" % (short(interface), member), message.get_signature())
    elif kind in (2, 3):
        call = calls.pop((receiver, message.get_reply_serial()), None)
        # Answers to bluetoothd are ignored, since they are not its own actions.
        if call is None or receiver in owners:
            return 0
        interface, member, detail = call
        if interface != "Agent1":
            owners.add(sender)
        name = " ".join(filter(None, ["%s.%s" % (interface, member), detail]))
        if kind == 3:
            words = message.get_args_list()
            say("error", name, message.get_error_name(), str(words[0]) if words else "")
        elif interface not in ("Agent1", "Properties") or member == "Set":
            say("answer", name, message.get_signature())
        if member == "GetManagedObjects" and kind == 2:
            for interfaces in message.get_args_list()[0].values():
                take_properties(interfaces)
    elif sender in owners and message.get_interface() in (PROPERTIES, MANAGER):
        take_signal(message.get_member(), message.get_args_list())
    return 0


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
bus.call_blocking(
    "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring", "BecomeMonitor", "asu",
    (dbus.Array([], signature="s"), dbus.UInt32(0)))
bus.add_message_filter(take)
print("ready", flush=True)
GLib.MainLoop().run()
