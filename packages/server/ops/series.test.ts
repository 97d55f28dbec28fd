import { expect, it } from 'vitest'
import { Count, Family, Times } from './series.ts'

it('counts by the values of its labels, in the text format of Prometheus', () => {
  const family = new Family(Count, 'assay_things_total', 'Things.', ['kind', 'at'])
  family.of('a', 1).add()
  family.of('a', 1).add(2)
  family.of('q"\\\n', 2).add()
  expect(family.text()).toBe(
    [
      '# HELP assay_things_total Things.',
      '# TYPE assay_things_total counter',
      'assay_things_total{kind="a",at="1"} 3',
      'assay_things_total{kind="q\\"\\\\\\n",at="2"} 1',
      '',
    ].join('\n'),
  )
})

it('times fall into every bucket they do not exceed', () => {
  const family = new Family(Times, 'assay_seconds', 'Time.', [])
  const times = family.of()
  for (const seconds of [0.0005, 0.00051, 0.5, 11]) times.observe(seconds)
  const text = family.text()
  expect(text).toContain('# TYPE assay_seconds histogram')
  for (const line of [
    'assay_seconds_bucket{le="0.0005"} 1',
    'assay_seconds_bucket{le="0.001"} 2',
    'assay_seconds_bucket{le="0.25"} 2',
    'assay_seconds_bucket{le="0.5"} 3',
    'assay_seconds_bucket{le="10"} 3',
    'assay_seconds_bucket{le="+Inf"} 4',
    'assay_seconds_sum 11.50101',
    'assay_seconds_count 4',
  ])
    expect(text.split('\n')).toContain(line)
})
