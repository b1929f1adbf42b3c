import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRepository } from './repository.ts';

it('reads the project path from the remote, and ignores a remote that has no valid path', {
  timeout: 60_000,
}, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium-repository-'));
  try {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: dir });
    git('init', '--quiet', '--initial-branch=main');
    await writeFile(join(dir, '.gitlab-ci.yml'), 'job: {script: "true"}\n');
    git('add', '.');
    git('commit', '--quiet', '-m', 'first');
    git('remote', 'add', 'origin', 'x');
    const paths: Record<string, string | undefined> = {};
    for (const url of ['https://host/group/shop.git', 'git@host:group/shop.git', '../shop.git', '/tmp/my files/shop']) {
      git('remote', 'set-url', 'origin', url);
      paths[url] = (await readRepository(dir, undefined)).originPath;
    }
    expect(paths).toEqual({
      'https://host/group/shop.git': 'group/shop',
      'git@host:group/shop.git': 'group/shop',
      '../shop.git': undefined,
      '/tmp/my files/shop': undefined,
    });
  } finally {
    await rm(dir, { recursive: true });
  }
});
