// The lint rule that keeps secrets out of the arguments of programs.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';

const SETTINGS = '{ "linter": { "rules": { "preset": "none" } }, "plugins": ["./secret-arguments.grit"] }';
const REFUSED = [
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
const ACCEPTED = [
  "await git(dir, ['remote', 'set-url', 'origin', address]);",
  "await git(dir, ['push', url], { env: { PASSWORD: password } });",
  "await engine.run(['create', '--env', name], { variables: { TOKEN: token } });",
  "await runProgram('docker', ['run', '-p', port]);",
];

it('refuses secrets in the arguments of programs, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-rule-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'biome.json'), SETTINGS);
  copyFileSync(packageFile('scripts/secret-arguments.grit'), join(folder, 'secret-arguments.grit'));
  writeFileSync(join(folder, 'sample.ts'), [...ACCEPTED, ...REFUSED].join('\n'));
  const args = [packageFile('node_modules/@biomejs/biome/bin/biome'), 'lint', '--max-diagnostics=100', 'sample.ts'];
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd: folder }, (_failure, stdout, stderr) => resolve(stdout + stderr)),
  );
  const lines = Array.from(output.matchAll(/^sample\.ts:(\d+):/gm), ([, line]) => Number(line));
  expect(lines).toEqual(REFUSED.map((_text, index) => ACCEPTED.length + index + 1));
});
