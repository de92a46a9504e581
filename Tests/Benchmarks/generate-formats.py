#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs of formats.sh: generate-formats.py FOLDER ROWS [NAME…]. Equal arguments give equal inputs.

The data is invented. Sensor readings are 300 seconds apart. CareLink and Glooko have the newest row first, as in real exports."""

import datetime
import pathlib
import random
import sys
import zipfile

sys.dont_write_bytecode = True
from generate import START, generic, readings, walk

CARELINK_HEADER = (
    "Index,Date,Time,New Device Time,BG Reading (mg/dL),Linked BG Meter ID,Basal Rate (U/h),Temp Basal Amount,"
    "Temp Basal Type,Temp Basal Duration (h:mm:ss),Bolus Type,Bolus Volume Selected (U),"
    "Bolus Volume Delivered (U),Bolus Duration (h:mm:ss),Prime Type,Prime Volume Delivered (U),Alarm,Suspend,"
    "Rewind,BWZ Estimate (U),BWZ Target High BG (mg/dL),BWZ Target Low BG (mg/dL),BWZ Carb Ratio (g/U),"
    "BWZ Insulin Sensitivity (mg/dL/U),BWZ Carb Input (grams),BWZ BG Input (mg/dL),BWZ Correction Estimate (U),"
    "BWZ Food Estimate (U),BWZ Active Insulin (U),Sensor Calibration BG (mg/dL),Sensor Glucose (mg/dL),"
    "ISIG Value,Event Marker,Bolus Number,Bolus Cancellation Reason,BWZ Unabsorbed Insulin Total (U),"
    "Final Bolus Estimate,Scroll Step Size,Insulin Action Curve Time,Sensor Calibration Rejected Reason,"
    "Preset Bolus,Bolus Source,Network Device Associated Reason,Network Device Disassociated Reason,"
    "Network Device Disconnected Reason,Sensor Exception,Preset Temp Basal Name"
)
STEP = datetime.timedelta(seconds=300)
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def carelink(path, rows, values, generator):
    names = CARELINK_HEADER.split(",")
    sensor = names.index("Sensor Glucose (mg/dL)")
    before, behind = "," * (sensor - 2), "," * (len(names) - sensor - 2)
    with open(path, "w", newline="") as file:
        file.write("Last Name,First Name,Patient ID,Start Date,End Date,Device,Sample Pump - 723\r\n")
        file.write('"Sample","Kim","","1/1/10 12:00:00 AM","12/31/19 11:59:59 PM","Serial Number",000001\r\n\r\n')
        file.write("-------,Sample Pump - 723,Sensor,000001,------- \r\n" + CARELINK_HEADER + "\r\n")
        for row in range(rows):
            time, value = START + STEP * (rows - row), next(values)
            file.write(f"{row}.00000,{time:%Y/%m/%d,%H:%M:%S}{before}{value}.00,{value / 6:.2f}{behind}\r\n")


def glooko(path, rows, values, generator):
    """An archive whose tables have at most 100,000 rows each."""
    share = 100_000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, first in enumerate(range(0, rows, share), 1):
            with archive.open(f"Sample_Kim/cgm_data_{number}.csv", "w") as file:
                file.write(b"Name:Kim Sample, Date Range:2010-01-01 -2019-12-31\n")
                file.write(b"Timestamp,CGM Glucose Value (mg/dl),Serial Number\n")
                for row in range(first, min(first + share, rows)):
                    file.write(f"{START + STEP * (rows - row):%Y-%m-%d %H:%M},{next(values)}.0,0000001\n".encode())


def apple(path, rows, values, generator):
    """Readings of a sensor with the data of its app. One in twenty readings is from a meter."""
    with open(path, "w") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE HealthData [\n')
        file.write("<!ELEMENT HealthData (ExportDate,Me,Record*)>\n]>\n")
        file.write('<HealthData locale="en_US">\n <ExportDate value="2020-05-31 18:21:36 +0200"/>\n')
        for row in range(rows):
            time = f"{START + STEP * row:%Y-%m-%d %H:%M:%S} +0200"
            source = 'sourceName="Sample Meter" sourceVersion="3"' if row % 20 == 19 else (
                'sourceName="Dexcom G6" sourceVersion="15687"')
            file.write(
                f' <Record type="HKQuantityTypeIdentifierBloodGlucose" {source} unit="mg/dL" creationDate="{time}" '
                f'startDate="{time}" endDate="{time}" value="{next(values)}">\n'
                f'  <MetadataEntry key="Transmitter Time" value="{time}"/>\n </Record>\n')
        file.write("</HealthData>\n")


def sheet(path, rows, values, generator):
    """The rows of generic.csv as a spreadsheet program writes them: times as numbers, and shared texts."""
    texts = {}

    def text(value):
        return texts.setdefault(value, len(texts))

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("xl/worksheets/sheet1.xml", "w") as file:
            head = "".join(
                f'<c r="{column}1" t="s"><v>{text(name)}</v></c>'
                for column, name in zip("ABCDE", ["time", "value", "unit", "device", "sequence"]))
            file.write(f'<worksheet xmlns="{SPREADSHEET}"><sheetData><row r="1">{head}</row>'.encode())
            for row, (time, value, device, number) in enumerate(readings(rows, values, generator), 2):
                days = (time - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
                file.write((
                    f'<row r="{row}" spans="1:5"><c r="A{row}" s="1"><v>{days!r}</v></c><c r="B{row}"><v>{value}</v></c>'
                    f'<c r="C{row}" t="s"><v>{text("mg/dL")}</v></c><c r="D{row}" t="s"><v>{text(device)}</v></c>'
                    f'<c r="E{row}"><v>{number}</v></c></row>').encode())
            file.write(b"</sheetData></worksheet>")
        shared = "".join(f"<si><t>{value}</t></si>" for value in texts)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{SPREADSHEET}">{shared}</sst>')
        archive.writestr("xl/styles.xml", (
            f'<styleSheet xmlns="{SPREADSHEET}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>'
            "</styleSheet>"))
        archive.writestr("xl/workbook.xml", (
            f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{RELATIONS}"><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'))
        relations = "".join(
            f'<Relationship Id="rId{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
            for number, (kind, target) in enumerate([
                ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"),
                ("sharedStrings", "sharedStrings.xml")], 1))
        archive.writestr("xl/_rels/workbook.xml.rels", (
            f'<Relationships xmlns="{PACKAGE}">{relations}</Relationships>'))
        archive.writestr("_rels/.rels", (
            f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{RELATIONS}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>'))
        office = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        archive.writestr("[Content_Types].xml", (
            f'<Types xmlns="{TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{office}.sheet.main+xml"/></Types>'))


WRITERS = {
    "generic.csv": generic, "carelink.csv": carelink, "glooko.zip": glooko, "export.xml": apple, "sheet.xlsx": sheet,
}


def main():
    folder, rows = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or WRITERS:
        generator = random.Random(1)
        WRITERS[name](folder / name, rows, walk(generator), generator)


main()
