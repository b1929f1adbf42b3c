import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../../testing/lambda-service.ts';

/** A node of another major: this one, under another name, saying of itself that it is that. */
const OTHER = 97;

let folder: string;
let bed: TestLambdaService;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-runtimes-'));
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo v${OTHER}.1.0 && exit\nRUN_BY=other exec ${process.execPath} "$@"\n`;
  await writeFile(path.join(folder, 'node'), script);
  await chmod(path.join(folder, 'node'), 0o755);
  const searchPath = [path.join(folder, 'nowhere'), folder, process.env.PATH].join(path.delimiter);
  bed = await TestLambdaService.start({ hostEnv: { ...process.env, PATH: searchPath } });
});
afterAll(async () => {
  await bed.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a runtime with a version (D-056)', () => {
  // The environment of a process is replaced when it gets its lambda; what it was started with is in /proc.
  const TELL = 'exports.run = () => require("fs").readFileSync("/proc/self/environ", "utf8").includes("RUN_BY=other")';

  it('runs on a node of that major that is found on PATH', async () => {
    const id = bed.lambda(TELL, { runtime: `nodejs${OTHER}` });
    expect(resultOf(await bed.invoke(id))).toBe('true');
    expect(bed.service.log(id, {})).toEqual([]);
    bed.change(id, TELL, { runtime: 'nodejs' });
    expect(resultOf(await bed.invoke(id))).toBe('false');
  });

  it.each(['nodejs98', 'NodeJS 16', 'node.js-98.x'])(
    "%s runs on the emulator's own where there is none, and the log says so once",
    async (runtime) => {
      const id = bed.lambda(TELL, { runtime, isolate: true });
      for (let call = 0; call < 2; call += 1) expect(resultOf(await bed.invoke(id))).toBe('false');
      expect(bed.service.log(id, {})).toEqual([
        expect.stringMatching(/^\[terrarium\] no usable Node\.js (98|16) is on the PATH/),
      ]);
    },
  );

  it('that is another language is refused', async () => {
    for (const runtime of ['python3', 'nodemon', 'java']) {
      expect(failureOf(await bed.run('', { runtime }))).toMatch(/^runtime: /);
    }
  });
});

describe('TypeScript', () => {
  const SOURCE = `interface Lead { name: string }
enum Kind { form = 'form' }
import type { Server } from 'node:http';
import { basename } from 'node:path';
class Reader<T extends Lead> { constructor(private readonly lead: T) {} name(): string { return this.lead!.name as string } }
export const run = async (event: string, context: string): Promise<string> => {
  const lead = JSON.parse(event) satisfies Lead;
  if ((lead as Lead).name! === 'bad') throw new Error(basename<string>('/x/bad'));
  return new Reader<Lead>(lead).name() + Kind.form;
};`;

  it('runs inline, and a trace names line and column of the source', async () => {
    const id = bed.lambda(SOURCE);
    expect(resultOf(await bed.invoke(id, '{"name":"Ada"}'))).toBe('Adaform');
    const failed = await bed.invoke(id, '{"name":"bad"}');
    expect(failureOf(failed)).toBe('error: bad');
    const line = SOURCE.split('\n')[7] ?? '';
    const place = `index.js:8:${line.indexOf('new Error') + 1})`;
    expect(failed.logs.map(({ text }) => text)).toContainEqual(expect.stringContaining(place));
  });

  it('in the older style of modules runs, too', async () => {
    const code =
      'exports.run = (event: string, context: string, callback: (e: unknown, v?: string) => void): void => { setTimeout(() => callback(null, event), 20) };';
    expect(resultOf(await bed.run(code, {}, 'hello'))).toBe('hello');
  });

  it('runs from the files of a package', async () => {
    const place = path.join(folder, 'package');
    await mkdir(path.join(place, 'lib'), { recursive: true });
    await writeFile(
      path.join(place, 'index.ts'),
      "import { part, type Part } from './lib/part';\nexport const run = (event: string): Part => part(event);",
    );
    await writeFile(
      path.join(place, 'lib', 'part.ts'),
      "export type Part = string;\nexport function part(text: string): Part { return 'part ' + text }",
    );
    for (const handler of ['run', 'index.run', 'index.ts;run']) {
      const properties = { code_type: 'package', package_url: pathToFileURL(place).href, handler };
      expect(resultOf(await bed.run('', properties, 'x'))).toBe('part x');
    }
  });

  it('that does not parse says in which line and column', async () => {
    expect(
      failureOf(await bed.run('const a: string = "x";\nexport function run(event: string) {\n  const x: = 1;\n}')),
    ).toBe('load: syntax error in index.js, line 3, column 12: Unexpected token');
    // What is JavaScript up to its mistake is reported as JavaScript.
    expect(failureOf(await bed.run('exports.run = () => {\n  const x = ;\n}'))).toBe(
      "load: syntax error in index.js, line 2, column 13: Unexpected token ';' in: const x = ;",
    );
  });
});
