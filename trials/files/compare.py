"""Reads a Parquet file with DuckDB and with ClickHouse, and a CSV with Python's reader, and holds each against the log.

`compare.py kind file.parquet file.csv`, with the log on standard input. Prints a line; ends with 1 at the first difference.
"""
import csv
import itertools
import json
import sys

import chdb
import duckdb

import expected

CHUNK = 20_000
csv.field_size_limit(1 << 24)


def with_duckdb(path):
    answer = duckdb.connect().execute('SELECT * FROM read_parquet(?)', [path])
    while rows := answer.fetchmany(CHUNK):
        yield from (list(row) for row in rows)


def with_clickhouse(path, order):
    """In pieces, so that no answer is larger than a piece. It reads row groups in any order unless it is given one."""
    rows = int(chdb.query(f"SELECT count() FROM file('{path}', Parquet)", 'CSV').bytes())
    key = "SELECT * FROM file('%s', Parquet) ORDER BY %s LIMIT %d OFFSET %d SETTINGS output_format_json_quote_64bit_integers = 0, max_threads = 1"
    for begin in range(0, rows, 10 * CHUNK):
        text = chdb.query(key % (path, order, 10 * CHUNK, begin), 'JSONCompactEachRow').bytes()
        yield from (json.loads(line) for line in text.splitlines())


def with_csv(path):
    with open(path, newline='', encoding='utf-8') as file:
        rows = csv.reader(file)
        next(rows)
        yield from rows


def main(kind, parquet, table):
    order = 'from_ms, token_address' if kind == 'candles' else 'sequence'
    readers = {'DuckDB': with_duckdb(parquet), 'ClickHouse': with_clickhouse(parquet, order)}
    text = with_csv(table)
    count = 0
    for due in getattr(expected, kind)(sys.stdin):
        count += 1
        for reader, rows in readers.items():
            found = next(rows, None)
            if found != due:
                sys.exit(f'{kind}, row {count}: {reader} reads {found}, and the log says {due}')
        said = ['' if value is None else str(value) for value in due]
        found = next(text, None)
        if found != said:
            sys.exit(f"{kind}, row {count}: Python's csv reads {found}, and the log says {said}")
    for reader, rows in itertools.chain(readers.items(), [("Python's csv", text)]):
        more = next(rows, None)
        if more is not None:
            sys.exit(f'{kind}: {reader} has a row beyond the {count} of the log: {more}')
    print(f'{kind}: {count:,} rows are those of the log, read by DuckDB {duckdb.__version__}, chdb {chdb.__version__} and csv', flush=True)


main(*sys.argv[1:])
