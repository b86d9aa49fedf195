"""The sums of the regions over all maps.

A map has a number of rows and a digest for each region. Tasks add these numbers up, so the driver receives one sum for
each region, and not one for each map and region. The numbers of all regions are one long integer with a lane for each
number, so one addition adds all regions. A lane of a digest has 16 bytes, so its carry reaches no other lane.
"""

import struct

LANES = struct.Struct("<QQQQ8x")  # records, pieces, bytes, digest
DIGESTS = 1 << 64


def lanes_of(setting, report):
    """Return the lanes of a map's report, from the first region of the first table on."""
    lanes = bytearray(LANES.size * setting.partitions)
    for table, of_table in enumerate(report["tables"]):
        for r in of_table["regions"]:
            LANES.pack_into(lanes, LANES.size * setting.partition_of(table, r["region"]), r["records"], r["pieces"],
                            r["bytes"], r["digest"] % DIGESTS)
    return bytes(lanes)


def added(many):
    """Return the sum of lanes."""
    total, size = 0, 0
    for lanes in many:
        total, size = total + int.from_bytes(lanes, "little"), len(lanes)
    return total.to_bytes(size, "little")


def rows_of(lanes):
    """Return (records, digest) of all regions together."""
    every = list(LANES.iter_unpack(lanes))
    return [sum(r[0] for r in every), sum(r[3] for r in every) % DIGESTS]


def tables_of(setting, lanes):
    """Return the value of `unite --totals`: the regions with rows of each table."""
    every, tables, at = list(LANES.iter_unpack(lanes)), [], 0
    for name, n in setting.regions:
        regions = [{"region": i, "records": records, "pieces": pieces, "offset": 0, "bytes": size, "digest": signed(digest)}
                   for i, (records, pieces, size, digest) in enumerate(every[at:at + n]) if records]
        tables.append({"name": name, "filtered": 0, "regions": regions})
        at += n
    return {"tables": tables}


def signed(digest):
    """Return the digest as a report has it, which is a signed number of 64 bits."""
    digest %= DIGESTS
    return digest - DIGESTS if digest >= DIGESTS // 2 else digest
