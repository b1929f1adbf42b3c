import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand, CliRunner } from '../testing/command.ts';

let cli: CliRunner;
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
});
afterAll(() => cli?.close());

const node = (code: string) => [process.execPath, '-e', code];
const EMPTY = ['exec', '--seed', 'empty'];

describe('terrarium exec', () => {
  it('runs the command with a new platform, its addresses and its credentials', async () => {
    const { exitCode, out, err } = await cli.run(
      [
        'exec',
        '--',
        'sh',
        '-c',
        `node -p 'JSON.stringify(process.env)'; ${CliRunner.command} status --json; ${CliRunner.command} leads --json`,
      ],
      { env: { KEPT: 'as it was' } },
    );
    expect([exitCode, err]).toEqual([0, '']);
    const [variables = '', ...answers] = out.split('\n');
    const env = JSON.parse(variables);
    const { TERRARIUM_BASE_URL: baseUrl } = env;
    expect(env).toMatchObject({
      KEPT: 'as it was',
      TERRARIUM_META_URL: `${baseUrl}/meta`,
      TERRARIUM_SECURITY_URL: `${baseUrl}/security`,
      TERRARIUM_GATEWAY_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      TERRARIUM_CRM_URL: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      TERRARIUM_SCM_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      TERRARIUM_TOKEN: expect.any(String),
      TERRARIUM_API_SECRET: env.PLATFORM_API_SECRET,
      PLATFORM_API_KEY: env.TERRARIUM_API_KEY,
    });
    expect(answers.join('\n')).toMatch(new RegExp(`^{[^]*"running": true[^]*"baseUrl": "${baseUrl}"[^]*}\n\\[\\]\n$`));
    // The platform stops with the command.
    await expect(fetch(`${baseUrl}/meta/health`)).rejects.toThrow();
  });

  it.each([
    [[], {}, 'block'],
    [['--outbound-default', 'pass'], {}, 'pass'],
    [[], { TERRARIUM_OUTBOUND_DEFAULT: 'pass' }, 'pass'],
  ])('with %j and %j has the policy for outbound calls: %s', async (options, env, policy) => {
    const command = ['sh', '-c', `${CliRunner.command} outbound`];
    const { out } = await cli.run(['exec', '--seed', 'empty', ...options, '--', ...command], { env });
    expect(out).toBe(`${policy} for all other hosts outside this machine (setting outbound.default)\n`);
  });

  it('sets PLATFORM_DEPLOY_URL if the world has a deployment endpoint', async () => {
    const development = {
      properties: { environment_type: 'development' },
      lambdas: {
        deployer: {
          properties: {
            provider: { id: '/default-lambda' },
            runtime: 'nodejs',
            code_type: 'code',
            handler: 'run',
            code: 'exports.run = () => {}',
          },
        },
      },
      apis: {
        ci: {
          apiendpoints: {
            deploy: {
              properties: { resource: '/deploy', implementation_type: 'lambda', implementation_id: 'deployer' },
            },
          },
        },
      },
    };
    const seed = { format: 1, orgs: { demo: { workspaces: { tools: { environments: { development } } } } } };
    writeFileSync(join(cli.folder, 'deploy.json'), JSON.stringify(seed));
    const { out, err } = await cli.run([
      'exec',
      '--seed',
      'deploy.json',
      '--',
      'sh',
      '-c',
      'echo $TERRARIUM_GATEWAY_URL $PLATFORM_DEPLOY_URL',
    ]);
    const [gatewayUrl, deployUrl] = out.trim().split(' ');
    expect([deployUrl, err]).toEqual([`${gatewayUrl}/ci/deploy`, '']);
  });

  it('ends with the exit code of the command', async () => {
    const exits = await Promise.all([
      cli.run([...EMPTY, '--', ...node('process.exit(7)')]),
      cli.run([...EMPTY, ...node("process.kill(process.pid, 'SIGKILL')")]),
      cli.run([...EMPTY, '--', 'no-such-command']),
      cli.run([...EMPTY, '--', './no-such-command']),
      cli.run([...EMPTY, '--', '/etc/passwd']),
    ]);
    expect(exits.map(({ exitCode, out }) => [exitCode, out])).toEqual([
      [7, ''],
      [137, ''],
      [127, ''],
      [127, ''],
      [126, ''],
    ]);
    expect(exits.slice(2).map(({ err }) => err)).toEqual([
      "terrarium: the command 'no-such-command' is not in PATH\n",
      "terrarium: the command './no-such-command' does not exist\n",
      "terrarium: the command '/etc/passwd' cannot be run: spawn /etc/passwd EACCES\n",
    ]);
  });

  it('passes signals on, and waits until the command has ended', async () => {
    const patient = cli.start([
      ...EMPTY,
      ...node("process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1e6); console.log('up')"),
    ]);
    await patient.waitForOutput('up');
    patient.child.kill('SIGTERM');
    const plain = cli.start([...EMPTY, ...node("setInterval(() => {}, 1e6); console.log('up')")]);
    await plain.waitForOutput('up');
    plain.child.kill('SIGINT');
    expect([(await patient.ended).exitCode, (await plain.ended).exitCode]).toEqual([3, 130]);
  });

  it('keeps the world in --data, where other commands find the platform', async () => {
    const inside = `${CliRunner.command} status --instance kept --json`;
    const { exitCode, out } = await cli.run([...EMPTY, '--instance', 'kept', '--', 'sh', '-c', inside]);
    expect([exitCode, JSON.parse(out)]).toEqual([0, expect.objectContaining({ running: true })]);
    const folder = join(cli.folder, '.terrarium', 'instances', 'kept');
    expect([existsSync(join(folder, 'world.json')), existsSync(join(folder, 'instance.json'))]).toEqual([true, false]);
  });

  it('does not run the command if the platform cannot start', async () => {
    const { exitCode, out, err } = await cli.run(['exec', '--seed', 'none.yaml', '--', 'echo', 'run']);
    expect([exitCode, out, err]).toEqual([2, '', expect.stringContaining('none.yaml')]);
  });
});
