import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = fileURLToPath(new URL('check-layers.mjs', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium layers '));
  write('package.json', '{"name": "sample", "dependencies": {}}');
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function check(): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, folder], (_failure, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}

/** A server in which every import is allowed. */
function writeServer(): void {
  write('server/model/ids.ts', 'export type Uuid = string;\n');
  write(
    'server/storage/world/world.ts',
    "import type { Uuid } from '../../model/ids.ts';\nexport const world: Uuid[] = [];\n",
  );
  write(
    'server/services/security/keys.ts',
    "import { world } from '../../storage/world/world.ts';\nexport const keys = world;\n",
  );
  write('server/services/history/undo.ts', "import { keys } from '../security/keys.ts';\nexport const undo = keys;\n");
  write('server/testing/platform.ts', "import '../platform/emulator.ts';\nexport const platform = 1;\n");
  write('server/platform/config.ts', 'export const config = {};\n');
  write(
    'server/platform/emulator.ts',
    "import './config.ts';\nimport '../services/history/undo.ts';\nexport const start = 1;\n",
  );
  write(
    'server/services/history/undo.test.ts',
    "import '../../testing/platform.ts';\nimport '../../platform/emulator.ts';\n",
  );
  write('server/cli/start.ts', "import '../platform/emulator.ts';\n");
  write('renderer/page.tsx', "import type { Uuid } from '../server/model/ids.ts';\nexport const id: Uuid = '';\n");
}

it('passes a server in which every import is allowed', async () => {
  writeServer();
  expect(await check()).toEqual({ exitCode: 0, output: 'layers: 10 modules, every import allowed\n' });
});

it('names file and line of every import that is not allowed, and what to do', async () => {
  writeServer();
  write('package.json', '{"name": "sample"}');
  write('server/model/first.ts', "import './second.ts';\n");
  write('server/model/second.ts', "import './first.ts';\n");
  write('server/storage/lonely.ts', 'export const lonely = 1;\n');
  const forbidden = [
    ['layer-model', 'server/model/bad.ts', 'server/storage/world/world.ts'],
    ['layer-storage', 'server/storage/files/bad.ts', 'server/services/security/keys.ts'],
    ['layer-services', 'server/services/publish/d.test.ts', 'server/cli/start.ts'],
    ['layer-services-security', 'server/services/security/bad.ts', 'server/services/history/undo.ts'],
    ['layer-services-seeds', 'server/services/seeds/bad.ts', 'server/services/history/undo.ts'],
    ['layer-platform', 'server/platform/bad.ts', 'server/cli/start.ts'],
    ['platform-in-tests-only', 'server/services/publish/b.ts', 'server/platform/emulator.ts'],
    ['tests-are-leaves', 'server/services/publish/c.ts', 'server/testing/platform.ts'],
    ['configuration-alone', 'server/platform/config-more.ts', 'server/model/ids.ts'],
    ['clients-ask-over-http', 'server/cli/bad.ts', 'server/services/security/keys.ts'],
    ['window-shares-the-contract', 'renderer/bad.tsx', 'server/storage/world/world.ts'],
    ['shell-starts-the-command-line', 'electron/bad.ts', 'server/platform/emulator.ts'],
    ['every-file-has-a-layer', 'server/attic/trunk.ts', 'server/model/ids.ts'],
    ['every-file-has-a-layer', 'server/loose.ts', 'server/model/ids.ts'],
  ] as const;
  for (const [, from, to] of forbidden)
    write(from, `\nimport type { A } from '${'../'.repeat(from.split('/').length - 1)}${to}';\n`);
  write('server/model/disk.ts', "import 'node:fs';\n");
  write('server/storage/gone.ts', "import './not-there.ts';\n");

  const { exitCode, output } = await check();

  const broken = output.split('\n').map((line) => line.replace(/^layers: (.*) \(.*\)$/, '$1'));
  expect(broken.filter(Boolean).sort()).toEqual(
    [
      ...forbidden.map(([rule, from, to]) => `${from}:2: ${rule}: ${from} -> ${to}`),
      'server/model/disk.ts:1: model-is-pure: server/model/disk.ts -> fs',
      'server/model/first.ts:1: no-cycles: server/model/first.ts -> server/model/second.ts -> server/model/first.ts',
      'server/storage/lonely.ts: no-orphans: server/storage/lonely.ts',
      'server/storage/gone.ts:1: resolvable: server/storage/gone.ts -> ./not-there.ts',
    ].sort(),
  );
  expect(output).toContain('move the file to the layer that it needs');
  expect(exitCode).toBe(1);
});

it('fails when dependency-cruiser has read nothing', async () => {
  write('server/README.md', 'no code here');
  const { exitCode, output } = await check();
  expect(output).toContain('dependency-cruiser read no module');
  expect(exitCode).toBe(1);
});

it('names the imports by which each start of a platform loads what few need', async () => {
  writeServer();
  write('node_modules/yaml/package.json', '{"name": "yaml", "version": "1.0.0", "main": "index.js"}');
  write('node_modules/yaml/index.js', '');
  write('package.json', '{"name": "sample", "dependencies": {"yaml": "1.0.0"}}');
  write('server/platform/late.ts', "import 'yaml';\n");
  write('server/platform/emulator.ts', "import './config.ts';\nexport const start = () => import('./late.ts');\n");
  expect(await check()).toMatchObject({ exitCode: 0 });
  write('server/platform/emulator.ts', "import './config.ts';\nimport './late.ts';\nexport const start = 1;\n");
  expect(await check()).toEqual({
    exitCode: 1,
    output:
      'layers: server/platform/late.ts:1: yaml is loaded at each start: server/platform/emulator.ts -> server/platform/late.ts -> ' +
      'yaml (import one of them on first use)\n',
  });
  write('server/api/routes/meta-records.ts', 'export const recordRoutes = {};\n');
  const recordRoutes = "import '../api/routes/meta-records.ts';\nexport const start = 1;\n";
  write('server/platform/emulator.ts', recordRoutes);
  expect((await check()).output).toContain('../api/routes/meta-records.ts is loaded at each start: ');
});
