import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PLAIN_ENV } from './baselines.ts';
import { lambdaSource } from './handler.ts';
import { type BenchmarkRequest, CLI, median } from './harness.ts';
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
    await platform.remove(all);
  }
  return { spare: median(spare), none: median(none), atOnce: median(atOnce) };
}

const SHAPES: Readonly<Record<string, string>> = {
  'a callback': 'exports.run = (event, context, callback) => callback(null, event)',
  'no parameter': 'exports.run = () => 1',
  'an async function': 'exports.run = async (event) => event',
  'a Promise': 'exports.run = (event) => Promise.resolve(event)',
  'a method of a class': 'class Shop { async run(event) { return event; } }\nmodule.exports = new Shop();',
  'an ES module': 'export const run = async (event) => event;',
  TypeScript: 'export const run = async (event: string): Promise<string> => event;',
  'https to the CRM': `exports.run = (event, context, callback) => require('https').request({ method: 'POST',
    host: process.env.CRM_API_BASEPATH, path: '/servlet/servlet.WebToLead' },
    (response) => response.resume().on('end', () => callback(null, 'sent'))).end('oid=1');`,
  'axios loaded': "const axios = require('axios'); exports.run = async () => axios.VERSION;",
};

/** Milliseconds of cold calls of handlers of ten shapes without a spare, and of a bare process from its start to its end. */
export async function coldShapes(
  platform: Terrarium,
  folder: string,
  rounds: number,
): Promise<{ shapes: [shape: string, ms: number][]; bareMs: number }> {
  const lambdaFolder = join(folder, 'lambda');
  mkdirSync(lambdaFolder);
  writeFileSync(join(lambdaFolder, 'part.js'), 'exports.part = 1;');
  writeFileSync(join(lambdaFolder, 'index.js'), "const { part } = require('./part'); exports.run = async () => part;");
  writeFileSync(join(folder, 'bare.js'), '');
  const ofPackage = { code_type: 'package', package_url: pathToFileURL(lambdaFolder).href, handler: 'index.run' };
  const properties: Record<string, object> = { 'a folder of two files': { ...ofPackage, code: undefined } };
  for (const [shape, code] of Object.entries(SHAPES)) properties[shape] = { code };
  const NODE_PATH = join(dirname(CLI), '..', '..', 'node_modules');
  const env = { NODE_OPTIONS: '--no-deprecation', NODE_PATH, CRM_API_BASEPATH: 'crm.example.com' };
  const shapesMs = Object.keys(properties).map((): number[] => []);
  const bareMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const published: Published[] = [];
    for (const shape of Object.values(properties)) published.push(await platform.publish({ ...shape, env }));
    await wait(REST_MS);
    for (const [at, endpoint] of published.entries()) shapesMs[at]?.push((await platform.call(endpoint)).ms);
    const beganMs = performance.now();
    spawnSync(process.execPath, [join(folder, 'bare.js')], { env: PLAIN_ENV });
    bareMs.push(performance.now() - beganMs);
    await platform.remove(published);
  }
  return {
    shapes: Object.keys(properties).map((shape, at) => [shape, median(shapesMs[at] ?? [])]),
    bareMs: median(bareMs),
  };
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
