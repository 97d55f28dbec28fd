/**
 * Exact arithmetic against plain Euclid in BigInt, and against C with GMP.
 *
 * The operands come from a fixed seed, so every run and both sides of a row use the same numbers.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { display } from '../packages/engine/exact/decimal.ts'
import * as fraction from '../packages/engine/exact/fraction.ts'
import * as ratio from '../packages/engine/exact/ratio.ts'
import type { Benchmark, Contender } from './benchmark.ts'

type Route = readonly fraction.Fraction[]

const ROUTES = 64
const HOPS = 4
const HOP_BITS = 256
const PAIRS = 32

/** Passes of the C peer in one run: long enough for its clock, short enough to interleave. */
const C_PASSES = 200

const random = generator(0x5eedn)
const routes: readonly Route[] = Array.from({ length: ROUTES }, () =>
  Array.from({ length: HOPS }, () => ({ num: integer(HOP_BITS), den: integer(HOP_BITS) })),
)

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'exact 4-hop price to 18 digits, 256-bit hops',
    unit: 'price',
    goal: { ratio: 40, sense: 'at least' },
    ours: { name: 'multiply, print', operations: ROUTES, run: () => routes.map(price) },
    peer: {
      name: 'Euclid at every hop, long division',
      operations: ROUTES,
      run: () => routes.map(plainPrice),
    },
    check: () => assertEqual(routes.map(price), routes.map(plainPrice)),
  },
  priceInC(),
  ...[256, 1024, 4096].map(reducedFraction),
]

function price(route: Route): string {
  return display(route.reduce(fraction.times))
}

/** The obvious implementation: a reduced fraction after every hop, then one digit at a time. */
function plainPrice(route: Route): string {
  let num = 1n
  let den = 1n
  for (const hop of route) {
    const step = plainReduce(num * hop.num, den * hop.den)
    num = step.num
    den = step.den
  }
  return longDivision(num, den)
}

function plainReduce(num: bigint, den: bigint): fraction.Fraction {
  let [a, b] = [num, den]
  while (b !== 0n) [a, b] = [b, a % b]
  return { num: num / a, den: den / a }
}

function longDivision(num: bigint, den: bigint): string {
  const whole = num / den
  let rest = num % den
  let digits = whole === 0n ? '' : whole.toString()
  let point = digits.length
  while (digits.length < 18) {
    rest *= 10n
    const digit = rest / den
    rest %= den
    if (digits === '' && digit === 0n) point -= 1
    else digits += digit.toString()
  }
  // A whole part beyond 18 digits: the digits cut off join the rest.
  const cut = 10n ** BigInt(digits.length - 18)
  let kept = BigInt(digits) / cut
  rest += (BigInt(digits) % cut) * den
  const half = den * cut
  if (2n * rest > half || (2n * rest === half && kept % 2n === 1n)) kept += 1n
  const text = kept.toString()
  point += text.length - 18
  const trimmed = text.replace(/0+$/, '')
  if (point <= 0) return `0.${'0'.repeat(-point)}${trimmed}`
  if (point >= trimmed.length) return trimmed.padEnd(point, '0')
  return `${trimmed.slice(0, point)}.${trimmed.slice(point)}`
}

/** Half of the pairs share a factor of a quarter of their bits; the others are random. */
function reducedFraction(bits: number): Benchmark {
  const pairs = Array.from({ length: PAIRS }, (_, i): fraction.Fraction => {
    if (i % 2 === 0) return { num: integer(bits), den: integer(bits) }
    const shared = integer(bits / 4)
    return { num: shared * integer((bits * 3) / 4), den: shared * integer((bits * 3) / 4) }
  })
  const ours = () => pairs.map(({ num, den }) => ratio.reduce(num, den))
  const theirs = () => pairs.map(({ num, den }) => plainReduce(num, den))
  return {
    name: `reduced fraction, ${bits} bits`,
    unit: 'fraction',
    goal: { ratio: 2, sense: 'at least' },
    ours: { name: 'Lehmer', operations: PAIRS, run: ours },
    peer: { name: 'Euclid', operations: PAIRS, run: theirs },
    check: () => assertEqual(ours(), theirs()),
  }
}

function priceInC(): Benchmark {
  const compiled = compile()
  return {
    name: 'exact 4-hop price to 18 digits, 256-bit hops, against C',
    unit: 'price',
    goal: { ratio: 0.2, sense: 'at least' },
    ours: { name: 'multiply, print', operations: ROUTES, run: () => routes.map(price) },
    peer: 'absent' in compiled ? compiled : compiled.contender,
    check: () => {
      if ('print' in compiled) assertEqual(routes.map(price), compiled.print())
    },
  }
}

type Compiled =
  | { readonly contender: Contender; readonly print: () => readonly string[] }
  | { readonly absent: string }

function compile(): Compiled {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const binary = join(folder, 'price')
  const source = fileURLToPath(new URL('peers/price.c', import.meta.url))
  try {
    execFileSync('cc', ['-O2', source, '-lgmp', '-lm', '-o', binary], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    return { absent: whyNot(error) }
  }

  const operands = join(folder, 'hops.txt')
  const lines = routes.flat().map(hop => `${hop.num.toString(16)} ${hop.den.toString(16)}`)
  writeFileSync(operands, `${ROUTES} ${HOPS}\n${lines.join('\n')}\n`)
  const execute = (argument: string) =>
    execFileSync(binary, [operands, argument], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

  let lastNs = 0
  return {
    contender: {
      name: 'C with GMP',
      operations: ROUTES * C_PASSES,
      run: () => {
        lastNs = Number(execute(String(C_PASSES)))
      },
      measuredNs: () => lastNs,
    },
    print: () => execute('print').trimEnd().split('\n'),
  }
}

function whyNot(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'no C compiler (cc) found'
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  if (output.includes('gmp.h')) return 'no gmp.h found (Debian: libgmp-dev)'
  if (output.includes('-lgmp')) return 'no libgmp found (Debian: libgmp-dev)'
  return `cc failed: ${output.split('\n')[0]}`
}

function assertEqual(ours: readonly unknown[], theirs: readonly unknown[]): void {
  for (const [i, value] of ours.entries()) {
    const [mine, other] = [text(value), text(theirs[i])]
    if (mine !== other) throw new Error(`case ${i}: ours gives ${mine}, the peer ${other}`)
  }
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? field.toString() : field))
}

/** An integer of exactly this many bits. */
function integer(bits: number): bigint {
  let n = 1n
  for (let have = 1; have < bits; have += 32) n = (n << 32n) | random()
  return (1n << BigInt(bits - 1)) | BigInt.asUintN(bits - 1, n)
}

/** The upper half of a 64-bit linear congruential generator (Knuth's MMIX constants). */
function generator(seed: bigint): () => bigint {
  let state = seed
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
    return state >> 32n
  }
}
