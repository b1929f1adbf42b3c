import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registryCredentials } from './image-pull.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-login-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads the credentials for an image with a configuration of the docker command. */
async function read(image: string, config: object) {
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  return registryCredentials(image, { env: { PATH, DOCKER_CONFIG: folder }, homeDir: undefined });
}

it('an image is pulled with the credentials that `docker login` has stored for its registry', async () => {
  const auth = Buffer.from('ada:se:cret').toString('base64');
  const auths = { 'registry.example:5000': { auth }, 'https://index.docker.io/v1/': { auth } };
  const user = { username: 'ada', password: 'se:cret' };
  const credentials = { ...user, serveraddress: 'registry.example:5000' };
  expect(await read('registry.example:5000/team/app:1', { auths })).toEqual(credentials);
  const hub = { ...user, serveraddress: 'https://index.docker.io/v1/' };
  expect(await read('team/app', { auths })).toEqual(hub);
  expect(await read('busybox', { auths })).toEqual(hub);
  expect(await read('other.example/app', { auths })).toBeUndefined();
  expect(await read('busybox', {})).toBeUndefined();
});

it.runIf(process.platform !== 'win32')('a credential helper is asked for the registry of an image', async () => {
  const script = `#!/bin/sh
read -r registry
case "$registry" in
  token.example) echo '{"Username": "<token>", "Secret": "of-token"}';;
  *) printf '{"Username": "of %s", "Secret": "secret"}' "$registry";;
esac
`;
  await writeFile(join(folder, 'docker-credential-test'), script);
  await chmod(join(folder, 'docker-credential-test'), 0o755);
  expect(await read('localhost/app', { credsStore: 'test' })).toEqual({
    username: 'of localhost',
    password: 'secret',
    serveraddress: 'localhost',
  });
  expect(await read('token.example/app', { credHelpers: { 'token.example': 'test' } })).toEqual({
    identitytoken: 'of-token',
    serveraddress: 'token.example',
  });
  expect(await read('token.example/app', { credsStore: 'missing' })).toBeUndefined();
});
