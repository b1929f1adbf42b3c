import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectForTests } from '../../../testing/engine.ts';
import { json, startEngineServer } from '../../../testing/engine-server.ts';
import { pullImage, registryCredentials } from './image-pull.ts';

/** The pulls of these tests never go on, however long they wait. */
const SILENCE_MS = 100;

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
  for (const image of ['busybox', 'docker.io/team/app:1', 'index.docker.io/team/app'])
    expect(await read(image, { auths })).toEqual(hub);
  expect(await read('other.example/app', { auths })).toBeUndefined();
  expect(await read('busybox', {})).toBeUndefined();
});

it('credentials that are stored with the address of a registry count for its host', async () => {
  const auths = { 'https://registry.example/v1/': { auth: Buffer.from('ada:secret').toString('base64') } };
  const credentials = { username: 'ada', password: 'secret', serveraddress: 'registry.example' };
  expect(await read('registry.example/team/app:1', { auths })).toEqual(credentials);
  expect(await read('registry.example:5000/team/app:1', { auths })).toBeUndefined();
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

it('a pull is sent with the credentials that `docker login` has stored', async () => {
  const auth = Buffer.from('ada:secret').toString('base64');
  await writeFile(join(folder, 'config.json'), JSON.stringify({ auths: { 'registry.example': { auth } } }));
  const server = await startEngineServer();
  const sentCredentials: unknown[] = [];
  server.answer(/^\/images\/create/, (response) => {
    const header = String(response.req.headers['x-registry-auth']);
    sentCredentials.push(JSON.parse(Buffer.from(header, 'base64url').toString()));
    response.end('{"status":"Status: Image is up to date"}\n');
  });
  const user = { env: { DOCKER_CONFIG: folder }, homeDir: undefined };
  const connection = connectForTests(server.url, { user });
  await pullImage(connection, 'registry.example/shop:1', { signal: new AbortController().signal });
  expect(sentCredentials).toEqual([{ username: 'ada', password: 'secret', serveraddress: 'registry.example' }]);
  connection.close();
  await server.stop();
});

it.each([
  ['does not respond', false],
  ['stops in the middle of a layer', true],
])('a registry that %s is a failure of the image, and not of the engine', async (_what, isBegun) => {
  const server = await startEngineServer();
  server.answer(/^\/images\/create/, (response) => {
    if (isBegun) response.writeHead(200).write('{"status":"Downloading","id":"ab"}\n');
  });
  const connection = connectForTests(server.url, { limits: { pullMs: SILENCE_MS } });
  const pulled = pullImage(connection, 'shop:1', { signal: new AbortController().signal });
  await expect(pulled).rejects.toMatchObject({
    name: 'EngineRefusal',
    kind: 'image',
    message: expect.stringContaining("image 'shop:1' cannot be pulled: the registry did not respond for 0.1 s"),
  });
  connection.close();
  await server.stop();
});

it('an engine that cannot reach a registry is quoted without the words of its client', async () => {
  const server = await startEngineServer();
  server.answer(/^\/images\/create/, json({ message: 'no such host' }, 500));
  const connection = connectForTests(server.url);
  const pulled = pullImage(connection, 'shop:1', { signal: new AbortController().signal });
  await expect(pulled).rejects.toThrow(/^image 'shop:1' cannot be pulled: no such host; /);
  connection.close();
  await server.stop();
});
