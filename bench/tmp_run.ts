import { benchmarks } from './depth.ts'
const now = () => { const u = process.cpuUsage(); return (u.user + u.system) * 1e3 }
for (const b of benchmarks) {
  b.check?.()
  const peer = b.peer as any
  const O: number[] = [], P: number[] = []
  const timed = async (c: any, reps: number) => { const t = now(); for (let i = 0; i < reps; i++) { const r = c.run(); if (r instanceof Promise) await r }; return (now() - t) / reps / c.operations }
  const cal = async (c: any) => { let r = 1; for (;;) { const t = now(); for (let i = 0; i < r; i++) { const q = c.run(); if (q instanceof Promise) await q }; if (now() - t > 2e7) return r; r *= 2 } }
  const ro = await cal(b.ours), rp = await cal(peer)
  for (let k = 0; k < 15; k++) { O.push(await timed(b.ours, ro)); P.push(await timed(peer, rp)) }
  const med = (l: number[]) => l.sort((x, y) => x - y)[l.length >> 1]!
  console.log(b.name, 'ours', med(O).toFixed(0), 'ns peer', med(P).toFixed(0), 'ns ratio', (med(P) / med(O)).toFixed(1), 'goal', b.goal.ratio)
}
