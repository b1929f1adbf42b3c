import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../../testing/lambda-service.ts';

/** A node of another major: this one, under another name, saying of itself that it is that. */
const OTHER = 97;

let folder: string;
let service: TestLambdaService;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-runtimes-'));
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo v${OTHER}.1.0 && exit\nRUN_BY=other exec ${process.execPath} "$@"\n`;
  await writeFile(path.join(folder, 'node'), script);
  await chmod(path.join(folder, 'node'), 0o755);
  const searchPath = [path.join(folder, 'nowhere'), folder, process.env.PATH].join(path.delimiter);
  service = await TestLambdaService.start({ hostEnv: { ...process.env, PATH: searchPath } });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a runtime with a version (D-056)', () => {
  // The environment of a process is replaced when it gets its lambda; what it was started with is in /proc.
  const READ_ENVIRONMENT =
    'exports.run = () => require("fs").readFileSync("/proc/self/environ", "utf8").includes("RUN_BY=other")';

  it('runs on a node of that major that is found on PATH', async () => {
    const id = service.lambda(READ_ENVIRONMENT, { runtime: `nodejs${OTHER}` });
    expect(resultOf(await service.invoke(id))).toBe('true');
    expect(service.lambdas.log(id, {})).toEqual([]);
    service.change(id, READ_ENVIRONMENT, { runtime: 'nodejs' });
    expect(resultOf(await service.invoke(id))).toBe('false');
  });

  it.each(['nodejs98', 'NodeJS 16', 'node.js-98.x'])(
    "%s runs on the emulator's own where there is none, and the log says so once",
    async (runtime) => {
      const id = service.lambda(READ_ENVIRONMENT, { runtime, isolate: true });
      for (let call = 0; call < 2; call += 1) expect(resultOf(await service.invoke(id))).toBe('false');
      expect(service.lambdas.log(id, {})).toEqual([
        expect.stringMatching(/^\[terrarium\] no usable Node\.js (98|16) is on the PATH/),
      ]);
    },
  );

  it('that is another language is refused', async () => {
    for (const runtime of ['python3', 'nodemon', 'java']) {
      expect(failureOf(await service.run('', { runtime }))).toMatch(/^runtime: /);
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
    const id = service.lambda(SOURCE);
    expect(resultOf(await service.invoke(id, '{"name":"Ada"}'))).toBe('Adaform');
    const failed = await service.invoke(id, '{"name":"bad"}');
    expect(failureOf(failed)).toBe('error: bad');
    const line = SOURCE.split('\n')[7] ?? '';
    const location = `index.js:8:${line.indexOf('new Error') + 1})`;
    expect(failed.logs.map(({ text }) => text)).toContainEqual(expect.stringContaining(location));
  });

  it('in the older style of modules runs, too', async () => {
    const code =
      'exports.run = (event: string, context: string, callback: (e: unknown, v?: string) => void): void => { setTimeout(() => callback(null, event), 20) };';
    expect(resultOf(await service.run(code, {}, 'hello'))).toBe('hello');
  });

  it('runs from the files of a package', async () => {
    const packageFolder = path.join(folder, 'package');
    await mkdir(path.join(packageFolder, 'lib'), { recursive: true });
    await writeFile(
      path.join(packageFolder, 'index.ts'),
      "import { part, type Part } from './lib/part';\nexport const run = (event: string): Part => part(event);",
    );
    await writeFile(
      path.join(packageFolder, 'lib', 'part.ts'),
      "export type Part = string;\nexport function part(text: string): Part { return 'part ' + text }",
    );
    for (const handler of ['run', 'index.run', 'index.ts;run']) {
      const properties = { code_type: 'package', package_url: pathToFileURL(packageFolder).href, handler };
      expect(resultOf(await service.run('', properties, 'x'))).toBe('part x');
    }
  });

  it('that does not parse says in which line and column', async () => {
    expect(
      failureOf(await service.run('const a: string = "x";\nexport function run(event: string) {\n  const x: = 1;\n}')),
    ).toBe('load: syntax error in index.js, line 3, column 12: Unexpected token');
    // What is JavaScript up to its mistake is reported as JavaScript.
    expect(failureOf(await service.run('exports.run = () => {\n  const x = ;\n}'))).toBe(
      "load: syntax error in index.js, line 2, column 13: Unexpected token ';' in: const x = ;",
    );
  });
});
