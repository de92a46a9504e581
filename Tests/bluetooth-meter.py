#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Bluetooth glucose meters on virtual radios, for the real kernel and the real bluetoothd of Tests/bluetooth-guest.sh.

Needs /dev/vhci of the module hci_vhci, and bumble. Each line of standard input is an order. The answer on
standard output is "done" and the order. Each event of a meter is also a line there, such as "guide connected".
The orders:

  adapter                  adds an adapter to this computer, hci0 first
  METER advertise SECONDS  the meter can be found and connected for this time, or until it is connected
  METER quiet              the meter cannot be found or connected
  METER add                adds a record, as if a person had measured
  METER leave-after COUNT  in the next transfer, the meter goes out of reach after this number of notifications
  METER be-silent          the next transfer has no final indication
  METER forget             the meter loses its pairings

Written from the documents of the Glucose Profile and Service 1.0.1 and from records of real meters, and not from a
driver.
"""

import asyncio
import struct
import sys

from bumble import att, gatt, hci
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.host import Host
from bumble.link import LocalLink
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport.common import AsyncPipeSink
from bumble.transport.vhci import open_vhci_transport

OUT_OF_REACH = 0x08
READ, NOTIFY = gatt.Characteristic.READ, gatt.Characteristic.NOTIFY
WRITE, INDICATE = gatt.Characteristic.WRITE, gatt.Characteristic.INDICATE
# Each record has a measurement and its context. The second list is for records that "add" adds.
METERS = {
    "guide": {
        "name": "meter+00123456", "address": "D4:3E:00:12:34:56", "passkey": 123456,
        "maker": "Roche", "model": "925", "serial": "00123456", "firmware": "v2.0.21",
        "records": [
            ("1b0400e40708021008104aff02b1f80000", "02040001"), ("0b0600e40708171014184aff25b1f80000", None),
            ("0a0700e4070818071e0070b0f80000", None), ("0b0800e40708180800004afffe07f80000", None),
        ],
        "later": ["0b0900e40708190c00004aff8cb0f80000", "0b0a00e40708190d00004aff8db0f80000"],
    },
    "contour": {
        "name": "Contour0123H4567890", "address": "E2:10:00:65:43:21", "passkey": None,
        "maker": "Ascensia", "model": "Contour Next One", "serial": "4567890", "firmware": "1.20",
        "records": [
            ("131e00e2070914051b075cfe6fb0f1", "021e0002"), ("071f00e20709150c00005cfe37c0f1", None),
        ],
        "later": ["032000e20709160c00005cfe6eb0f1"],
    },
}


def say(*words):
    print(*words, flush=True)


class Air(LocalLink):
    """The link on which the radios hear each other. Data comes from the address of the connection, which may be the
    public one."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        connection = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if connection is None or receiver is None:
            return
        asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, connection.self_address, transport, data)


class Radio(Controller):
    """A controller of Bluetooth 4.2. It also ends a connection that has only begun, as the kernel expects after a
    cancellation.

    A controller with privacy or extended advertising would report a connection by another event, for which
    the kernel waits.
    """

    le_features = (
        hci.LeFeatureMask.LE_ENCRYPTION | hci.LeFeatureMask.CONNECTION_PARAMETERS_REQUEST_PROCEDURE
        | hci.LeFeatureMask.EXTENDED_REJECT_INDICATION | hci.LeFeatureMask.PERIPHERAL_INITIATED_FEATURE_EXCHANGE
        | hci.LeFeatureMask.LE_PING | hci.LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION)

    def on_hci_le_create_connection_cancel_command(self, command):
        if self.pending_le_connection:
            asyncio.get_running_loop().call_soon(self.end_attempt, self.pending_le_connection.peer_address)
            self.pending_le_connection = None
        return super().on_hci_le_create_connection_cancel_command(command)

    def end_attempt(self, address):
        self.send_hci_packet(hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
            peer_address_type=address.address_type, peer_address=address, connection_interval=0, peripheral_latency=0,
            supervision_timeout=0, central_clock_accuracy=0))


class Display(PairingDelegate):
    """The meter's part in a pairing. Its passkey is printed on the meter."""

    def __init__(self, meter):
        has_passkey = meter.settings["passkey"] is not None
        # The address of the meter never changes, so no key is needed to recognise the meter.
        keys = self.KeyDistribution.DISTRIBUTE_ENCRYPTION_KEY
        super().__init__(self.DISPLAY_OUTPUT_ONLY if has_passkey else self.NO_OUTPUT_NO_INPUT, keys, keys)
        self.meter = meter

    async def generate_passkey(self):
        return self.meter.settings["passkey"]


class Meter:
    def __init__(self, air, name, settings):
        self.air, self.name, self.settings = air, name, settings
        self.records, self.later = list(settings["records"]), list(settings["later"])
        self.leave_after, self.is_silent, self.transfer, self.timer = None, False, None, None
        self.radio = Radio(name, link=air)
        self.device = Device(
            name=settings["name"], address=hci.Address(settings["address"]), host=Host(self.radio, AsyncPipeSink(self.radio)))
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=settings["passkey"] is not None, bonding=True, delegate=Display(self))
        self.device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\x08\x18"),
            (AdvertisingData.COMPLETE_LOCAL_NAME, settings["name"].encode())]))
        self.device.on("connection", self.connected)
        self.device.add_services(self.services())

    def services(self):
        protected = gatt.Characteristic.WRITEABLE | (
            gatt.Characteristic.WRITE_REQUIRES_ENCRYPTION if self.settings["passkey"] is None
            else gatt.Characteristic.WRITE_REQUIRES_AUTHENTICATION)
        texts = [(0x2A29, "maker"), (0x2A24, "model"), (0x2A25, "serial"), (0x2A26, "firmware")]
        self.measurement = self.characteristic(0x2A18, NOTIFY, gatt.Characteristic.READABLE)
        self.context = self.characteristic(0x2A34, NOTIFY, gatt.Characteristic.READABLE)
        self.access = self.characteristic(0x2A52, WRITE | INDICATE, protected, gatt.CharacteristicValue(write=self.requested))
        foreign = gatt.CharacteristicValue(write=lambda connection, value: say(self.name, "foreign", value.hex()))
        return [
            # A Guide has a second control point, which is in a service of its maker.
            gatt.Service(UUID("00000000-0000-1000-1000-000000000000"), [
                self.characteristic(0x2A52, WRITE | INDICATE, gatt.Characteristic.WRITEABLE, foreign)]),
            gatt.Service(UUID.from_16_bits(0x180A), [
                self.characteristic(number, READ, gatt.Characteristic.READABLE, self.settings[key].encode())
                for number, key in texts]),
            gatt.Service(UUID.from_16_bits(0x1808), [
                self.measurement, self.context,
                self.characteristic(0x2A51, READ, gatt.Characteristic.READABLE, b"\xff\x03"), self.access]),
        ]

    def characteristic(self, number, properties, permissions, value=b""):
        return gatt.Characteristic(UUID.from_16_bits(number), properties, permissions, value)

    def connected(self, connection):
        say(self.name, "connected")
        self.stop_timer()
        connection.on("disconnection", lambda reason: self.disconnected(reason))
        connection.on("pairing", lambda keys: say(self.name, "paired"))
        connection.on("pairing_failure", lambda reason: say(self.name, "not-paired", int(reason)))
        connection.on("connection_encryption_change", lambda: say(self.name, "encrypted", int(connection.encryption)))

    def disconnected(self, reason):
        say(self.name, "disconnected", "%02x" % reason)
        if self.transfer:
            self.transfer.cancel()

    # Orders

    async def obey(self, order, *arguments):
        if order == "advertise":
            self.stop_timer()
            # This waits for the radio, which may be busy with the connection of another meter.
            await self.device.start_advertising(advertising_interval_min=200, advertising_interval_max=200)
            loop = asyncio.get_running_loop()
            self.timer = loop.call_later(float(arguments[0]), lambda: loop.create_task(self.device.stop_advertising()))
        elif order == "quiet":
            self.stop_timer()
            await self.device.stop_advertising()
        elif order == "add":
            self.records.append((self.later.pop(0), None))
        elif order == "leave-after":
            self.leave_after = int(arguments[0])
        elif order == "be-silent":
            self.is_silent = True
        elif order == "forget":
            await self.device.keystore.delete_all()
        else:
            raise ValueError(order)

    def stop_timer(self):
        if self.timer:
            self.timer.cancel()
        self.timer = None

    def leave(self):
        """Ends all connections as if the meter were out of reach: both sides only notice that no more data comes."""
        for connection in list(self.radio.le_connections.values()):
            other = self.air.find_le_controller(connection.peer_address)
            for radio, key in ((other, connection.self_address), (self.radio, connection.peer_address)):
                if ended := radio.le_connections.get(key):
                    radio.on_le_disconnected(ended, OUT_OF_REACH)

    # The record access control point

    def requested(self, connection, value):
        say(self.name, "request", value.hex())
        subscribed = self.device.gatt_server.subscribers.get(connection, {})
        for characteristic, bit in ((self.measurement, 1), (self.access, 2)):
            if not subscribed.get(characteristic.handle, b"\x00\x00")[0] & bit:
                raise att.ATT_Error(0x81)
        if value == b"\x03\x00":
            if self.transfer:
                self.transfer.cancel()
        elif self.transfer and not self.transfer.done():
            raise att.ATT_Error(0x80)
        self.transfer = asyncio.get_running_loop().create_task(self.answer(connection, value))

    def meant(self, value):
        """The records that an operator and its operand select; None if the meter does not support them."""
        if value[1:] == b"\x01":
            return self.records
        if value[1:3] == b"\x03\x01" and len(value) == 5:
            first = struct.unpack_from("<H", value, 3)[0]
            return [record for record in self.records if int.from_bytes(bytes.fromhex(record[0])[1:3], "little") >= first]
        return None

    async def answer(self, connection, value):
        records = self.meant(value)
        if value == b"\x03\x00":
            end = b"\x06\x00\x03\x01"
        elif value[0] not in (1, 4) or records is None:
            end = bytes([6, 0, value[0], 3 if value[0] in (1, 4) else 2])
        elif value[0] == 4:
            end = struct.pack("<BBH", 5, 0, len(records))
        else:
            await self.send(connection, records)
            if self.is_silent:
                self.is_silent = False
                return
            end = bytes([6, 0, 1, 1 if records else 6])
        await self.device.gatt_server.indicate_subscriber(connection, self.access, end)

    async def send(self, connection, records):
        count = 0
        for measurement, context in records:
            for characteristic, value in ((self.measurement, measurement), (self.context, context)):
                if value is None:
                    continue
                if self.leave_after == count:
                    self.leave_after = None
                    self.leave()
                    # The task ends here: it is cancelled with the connection.
                    await asyncio.sleep(60)
                await self.device.gatt_server.notify_subscriber(connection, characteristic, bytes.fromhex(value))
                count += 1
                await asyncio.sleep(0.01)


async def orders():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().split()


async def main():
    air = Air()
    meters = {name: Meter(air, name, settings) for name, settings in METERS.items()}
    for meter in meters.values():
        await meter.device.power_on()
    adapters = []
    async for words in orders():
        if words == ["adapter"]:
            transport = await open_vhci_transport(None)
            address = "00:1A:7D:DA:71:%02X" % (len(adapters) + 1)
            adapters.append((transport, Radio(
                "adapter%d" % len(adapters), host_source=transport.source, host_sink=transport.sink, link=air,
                public_address=address)))
        else:
            await meters[words[0]].obey(*words[1:])
        say("done", *words)


asyncio.run(main())
