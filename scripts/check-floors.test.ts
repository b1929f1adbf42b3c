import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = fileURLToPath(new URL('check-floors.mjs', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium floors '));
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

/** A house in which every import is allowed. */
function writeHouse(): void {
  write('server/model/ids.ts', 'export type Uuid = string;\n');
  write('server/store/world.ts', "import type { Uuid } from '../model/ids.ts';\nexport const world: Uuid[] = [];\n");
  write('server/security/keys.ts', "import { world } from '../store/world.ts';\nexport const keys = world;\n");
  write(
    'server/gateway/routes.ts',
    "import type { Uuid } from '../model/ids.ts';\nexport const routes: Uuid[] = [];\n",
  );
  write('server/config.ts', 'export const config = {};\n');
  write(
    'server/emulator.ts',
    "import './config.ts';\nimport './gateway/routes.ts';\nimport './security/keys.ts';\nexport const start = 1;\n",
  );
  write('server/gateway/promise.test.ts', "import '../emulator.ts';\n");
  write('server/cli.ts', "import './cli/start.ts';\n");
  write('server/cli/start.ts', "import '../emulator.ts';\n");
  write('renderer/page.tsx', "import type { Uuid } from '../server/model/ids.ts';\nexport const id: Uuid = '';\n");
}

it('passes a house in which every import is allowed', async () => {
  writeHouse();
  expect(await check()).toEqual({ exitCode: 0, output: 'floors: 10 modules, every import allowed\n' });
});

it('names every import that is not allowed, with the rule it breaks', async () => {
  writeHouse();
  write('package.json', '{"name": "sample"}');
  write('server/model/first.ts', "import './second.ts';\n");
  write('server/model/second.ts', "import './first.ts';\n");
  write('server/store/lonely.ts', 'export const lonely = 1;\n');
  const forbidden = [
    ['floor-of-model', 'server/model/bad.ts', 'server/store/world.ts'],
    ['floor-of-store', 'server/store/bad.ts', 'server/gateway/routes.ts'],
    ['floor-of-gateway', 'server/gateway/a.ts', 'server/store/world.ts'],
    ['house-in-tests-only', 'server/gateway/b.ts', 'server/emulator.ts'],
    ['floor-of-gateway', 'server/gateway/c.ts', 'server/config.ts'],
    ['floor-of-gateway', 'server/gateway/d.test.ts', 'server/security/keys.ts'],
    ['floor-of-config', 'server/config-more.ts', 'server/model/ids.ts'],
    ['floor-of-cli', 'server/cli/bad.ts', 'server/store/world.ts'],
    ['floor-of-renderer', 'renderer/bad.tsx', 'server/store/world.ts'],
    ['floor-of-electron', 'electron/bad.ts', 'server/emulator.ts'],
    ['floor-of-emulator', 'server/emulator-more.ts', 'server/cli/start.ts'],
    ['a-floor-for-each-room', 'server/attic/trunk.ts', 'server/model/ids.ts'],
  ] as const;
  for (const [, from, to] of forbidden)
    write(from, `import type { A } from '${'../'.repeat(from.split('/').length - 1)}${to}';\n`);
  write('server/model/disk.ts', "import 'node:fs';\n");
  write('server/store/gone.ts', "import './not-there.ts';\n");

  const { exitCode, output } = await check();

  const broken = output.split('\n').map((line) => line.replace(/^floors: (.*) \(.*\)$/, '$1'));
  expect(broken.filter(Boolean).sort()).toEqual(
    [
      ...forbidden.map(([rule, from, to]) => `${rule}: ${from} -> ${to}`),
      'model-is-pure: server/model/disk.ts -> fs',
      'no-circles: server/model/first.ts -> server/model/second.ts -> server/model/first.ts',
      'no-orphans: server/store/lonely.ts',
      'resolvable: server/store/gone.ts -> ./not-there.ts',
    ].sort(),
  );
  expect(exitCode).toBe(1);
});

it('refuses to call a house good of which it has read nothing', async () => {
  write('server/README.md', 'no code here');
  const { exitCode, output } = await check();
  expect(output).toContain('the cruiser read no module at all');
  expect(exitCode).toBe(1);
});
