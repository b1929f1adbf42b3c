import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';

const SECRETS_IN_ARGUMENTS = [
  "await git(dir, ['remote', 'set-url', 'origin', repositoryUrl]);",
  "await git(dir, ['clone', variables.CI_REPOSITORY_URL], { env });",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a sample
  "await git(dir, ['push', `https://oauth2:${token}@host/a.git`]);",
  "await runGit(dir, ['-c', header(accessToken), 'push']);",
  "await runProgram('docker', ['login', '-u', 'me', '-p', value]);",
  "await runProgram('docker', ['login', '--password', value], { env });",
  "await engine.run(['login', '--password', value]);",
  "startProgram('curl', ['-u', me + PASSWORD, url], {});",
];
const OTHER_ARGUMENTS = [
  "await git(dir, ['remote', 'set-url', 'origin', address]);",
  "await git(dir, ['push', url], { env: { PASSWORD: password } });",
  "await engine.run(['create', '--env', name], { variables: { TOKEN: token } });",
  "await runProgram('docker', ['run', '-p', port]);",
];
const SYSTEM_DIFFERENCES = [
  "import { spawn } from 'node:child_process';",
  "import fork from 'child_process';",
  "import crossSpawn from 'cross-spawn';",
  "const programs = await import('node:child_process');",
  "import { readFile, rename } from 'node:fs/promises';",
  "import { renameSync as move } from 'node:fs';",
  "import * as fs from 'node:fs';",
  "import files from 'node:fs/promises';",
  "import os from 'node:os';",
  "import { platform, release } from 'node:os';",
  'const system = process.platform;',
  'const { platform: here } = process;',
  'const { env, platform: there } = globalThis.process;',
  "await rm('a', { force: true, recursive: true });",
  "rmSync('a', { recursive: true });",
];
const PORTABLE_CODE = [
  "import { rm, rmSync } from 'node:fs';",
  "import type { Dirent } from 'node:fs';",
  "import { arch } from 'node:os';",
  "await rm('a', { force: true });",
  'const { platform: tool } = arch;',
  'await files.rename(platform, arch);',
];

it.each([
  ['secret-arguments.grit', 'secrets in the arguments of programs', SECRETS_IN_ARGUMENTS, OTHER_ARGUMENTS],
  ['system-rule.grit', 'what differs between operating systems', SYSTEM_DIFFERENCES, PORTABLE_CODE],
])('%s rejects %s, and nothing else', async (rule, _subject, rejectedLines, acceptedLines) => {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-rule-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const settings = { linter: { rules: { preset: 'none' } }, plugins: [`./${rule}`] };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify(settings));
  copyFileSync(packageFile(`scripts/${rule}`), join(folder, rule));
  writeFileSync(join(folder, 'sample.ts'), [...acceptedLines, ...rejectedLines].join('\n'));
  const args = [packageFile('node_modules/@biomejs/biome/bin/biome'), 'lint', '--max-diagnostics=100', 'sample.ts'];
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd: folder }, (_failure, stdout, stderr) => resolve(stdout + stderr)),
  );
  const lines = Array.from(output.matchAll(/^sample\.ts:(\d+):/gm), ([, line]) => Number(line));
  expect(lines).toEqual(rejectedLines.map((_text, index) => acceptedLines.length + index + 1));
});
