import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { lambdaSource } from './handler.ts';
import { type BenchmarkRequest, median } from './harness.ts';
import { AUTHORIZATION, type Published, type Terrarium } from './terrarium.ts';

/** Generic processes are ready again after that long. */
const REST_MS = 1_000;
const AT_ONCE = 20;

/** Milliseconds of calls that need a process: with a spare one ready, without, and the slowest of twenty at once. */
export async function coldCalls(
  platform: Terrarium,
  rounds: number,
): Promise<Record<'spare' | 'none' | 'atOnce', number>> {
  const [spare, none, atOnce]: [number[], number[], number[]] = [[], [], []];
  const warm = await platform.publish();
  await platform.call(warm);
  for (let round = 0; round < rounds; round += 1) {
    const endpoint = await platform.publish();
    await wait(REST_MS);
    spare.push((await platform.call(endpoint)).ms);
    // Only a variable that is read when a process starts rules every spare out.
    const other = await platform.publish({ env: { NODE_OPTIONS: '--no-deprecation' } });
    await wait(REST_MS);
    none.push((await platform.call(other)).ms);
  }
  for (let round = 0; round < Math.ceil(rounds / 3); round += 1) {
    const all: Published[] = [];
    for (let count = 0; count < AT_ONCE; count += 1) all.push(await platform.publish());
    await wait(REST_MS);
    const took = await Promise.all(all.map((endpoint) => platform.call(endpoint)));
    atOnce.push(Math.max(...took.map(({ ms }) => ms)));
  }
  return { spare: median(spare), none: median(none), atOnce: median(atOnce) };
}

/** Milliseconds from sending another source, or writing it to the linked file, to the first answer that it gives. */
export async function edits(
  platform: Terrarium,
  folder: string,
  rounds: number,
): Promise<Record<'byApi' | 'byFile', number>> {
  const lambda = await platform.publish();
  await platform.call(lambda);
  const byApi: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await wait(REST_MS);
    const beganMs = performance.now();
    const value = lambdaSource(`A${round}`);
    await platform.ask('PATCH', `/meta/root/lambdas/${lambda.id}`, [
      { op: 'replace', path: '/properties/code', value },
    ]);
    const { text } = await platform.call(lambda);
    if (text !== `A${round}`) throw new Error(`an old version answered after an edit: ${text}`);
    byApi.push(performance.now() - beganMs);
  }
  const file = join(folder, 'linked.js');
  writeFileSync(file, lambdaSource());
  await platform.ask('POST', `/inspect/lambdas/${lambda.id}/link`, { path: file });
  const byFile: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await wait(REST_MS);
    const beganMs = performance.now();
    writeFileSync(file, lambdaSource(`F${round}`));
    while ((await platform.call(lambda)).text !== `F${round}`) await wait(1);
    byFile.push(performance.now() - beganMs);
  }
  return { byApi: median(byApi), byFile: median(byFile) };
}

/** Creates, of lambdas as a platform has many: about 400 bytes each. */
export async function createLoad(platform: Terrarium): Promise<BenchmarkRequest> {
  return {
    port: platform.port,
    method: 'POST',
    path: `${await platform.environment()}/lambdas`,
    headers: { Authorization: AUTHORIZATION },
    body: JSON.stringify({
      name: 'made-{n}',
      properties: {
        runtime: 'nodejs',
        code_type: 'code',
        code: lambdaSource(),
        handler: 'run',
        provider: { id: await platform.provider('default-lambda') },
      },
    }),
  };
}
