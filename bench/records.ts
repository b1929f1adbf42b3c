// What the figures above a list cost when as many calls are recorded as may be: each is asked for again and again over HTTP.
//
//   node bench/run.mjs records
import type { Line } from './speed/goals.ts';
import { type Benchmark, median, runBench } from './speed/harness.ts';
import { ownProcessorMs } from './speed/memory.ts';

const RECORDS = 100_000;
const ROUNDS = 30;
const LIMIT_MS = 50;
const LISTS = ['of=invocations', 'of=invocations&q=status:error time:>1h', 'of=traffic', 'of=traffic&q=is:ok dur:>1'];

async function main(benchmark: Benchmark): Promise<Line[]> {
  const platform = await benchmark.platform({ more: ['--records-max-items', String(RECORDS)] });
  const { path } = await platform.publish();
  const figures = (query: string) => platform.ask<{ ok: number }>('GET', `/inspect/figures?${encodeURI(query)}`);
  while ((await figures('of=traffic&plane=gateway')).ok < RECORDS - 100)
    await benchmark.load({ port: platform.gatewayPort, method: 'GET', path, connections: 10, durationMs: 1_000 });
  const lines: Line[] = [];
  for (const list of LISTS) {
    const tookMs: number[] = [];
    const beforeMs = ownProcessorMs(platform.child.pid);
    for (let round = 0; round < ROUNDS; round += 1) {
      const beganMs = performance.now();
      await figures(list);
      tookMs.push(performance.now() - beganMs);
    }
    const processorMs = (ownProcessorMs(platform.child.pid) - beforeMs) / ROUNDS;
    const label = `figures of ${RECORDS.toLocaleString('en')} records, ${list}`;
    lines.push({ label, measured: median(tookMs), unit: 'ms', goal: { atMost: LIMIT_MS } });
    lines.push({ label: `${label}, processor time`, measured: processorMs, unit: 'ms' });
  }
  return lines;
}

await runBench(main);
