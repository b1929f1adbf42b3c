import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageFile } from '../server/system/package-file.ts';
import { buildCommand, CliRunner } from '../server/testing/command.ts';
import { freePort } from '../server/testing/free-port.ts';

/** An address of this machine, used in place of the alias of the service. */
const ALIAS = '127.0.0.2';

const cli = new CliRunner();
beforeAll(buildCommand);
afterAll(() => cli.close());

it('the job of the GitLab example uses its service with the variables that both get', async () => {
  const job = parse(readFileSync(packageFile('docs/examples/gitlab-ci.yml'), 'utf8'))['as-a-service'];
  const [base, gateway] = [await freePort('0.0.0.0'), await freePort('0.0.0.0')];
  const projectVariables: Record<string, string> = { ROOT_PASSWORD: 'a password', ROOT_API_SECRET: 'a secret' };
  const variableOf = (text: string) =>
    text
      .replace(/^\$(\w+)$/, (_, name) => projectVariables[name] ?? '')
      .replace('//terrarium:4700', `//${ALIAS}:${base}`)
      .replace('//terrarium:4701', `//${ALIAS}:${gateway}`);
  const variables = Object.fromEntries(
    Object.entries<string>(job.variables).map(([name, text]) => [name, variableOf(text)]),
  );
  // The variables of the image (Dockerfile).
  const image = { TERRARIUM_HEADLESS: 'true', TERRARIUM_HOST: '0.0.0.0', TERRARIUM_DATA: 'world' };
  const ports = ['--base-port', String(base), '--gateway-port', String(gateway)];
  const service = cli.start(['start', ...ports], { env: { ...image, ...variables } });
  const inJob = async (...args: string[]) => {
    const { exitCode, out, err } = await cli.runInProcess(args, { env: variables });
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    return out;
  };
  await inJob('wait', '--timeout', '60');
  expect(await inJob('token')).toMatch(/^[\w-]+\n$/);
  expect(JSON.parse(await inJob('status', '--json'))).toMatchObject({ gatewayUrl: `http://${ALIAS}:${gateway}` });
  expect(await inJob('invoke', 'contact-form', '--event', '{"payload": {"email": "ada@example.com"}}')).toContain(
    'ok in',
  );
  expect(await inJob('leads')).toContain('ada@example.com');
  service.child.kill('SIGTERM');
  await service.ended;
});
