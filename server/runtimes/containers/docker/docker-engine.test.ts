import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, expect, it } from 'vitest';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { json, startEngineServer } from '../../../testing/engine-server.ts';
import { DockerEngine } from './docker-engine.ts';

/** Longer than the limit of other calls in the test of stops. */
const SLOW_STOP_MS = 200;
const server = await startEngineServer();
const engine = new DockerEngine({ worldId: newWorldId(), stopSeconds: 7, connection: connectForTests(server.url) });
afterEach(() => server.reset());
afterAll(async () => {
  engine.close();
  await server.stop();
});

const container = (state: object = {}, more: object = {}) => ({
  Id: 'ab',
  State: { Status: 'running', Running: true, StartedAt: '2026-01-01T00:00:00Z', ...state },
  ...{ Image: 'shop', Config: { Labels: {} }, HostConfig: {}, NetworkSettings: {}, ...more },
});
const answerWith = (...containers: { Id: string }[]) => {
  server.answer(/^\/containers\/json/, json(containers.map(({ Id }) => ({ Id, Created: 1 }))));
  for (const each of containers) server.answer(new RegExp(`^/containers/${each.Id}/json`), json(each));
};
const log = (text: string) => (response: ServerResponse) => {
  const line = `2026-01-01T00:00:00Z ${text}\n`;
  response.end(Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, line.length]), Buffer.from(line)]));
};

it('an instance that is removed has the stop time of the setting to end', async () => {
  answerWith(container());
  await engine.remove(randomUUID());
  expect(server.requests).toContain('/containers/ab/stop?t=7');
});

it('a stop is not given up before the stop time has passed', async () => {
  const connection = connectForTests(server.url, { limits: { callMs: 1 } });
  server.answer(/\/stop/, (response) => setTimeout(() => response.writeHead(204).end(), SLOW_STOP_MS));
  await connection.ask((docker) => docker.getContainer('ab').stop({ t: 3_600 }));
  connection.close();
});

it('the log of a paused instance is followed', async () => {
  answerWith(container({ Paused: true }));
  const stop = await engine.follow(randomUUID(), () => undefined);
  await expect
    .poll(() => server.requests)
    .toContainEqual(expect.stringMatching(/^\/containers\/ab\/logs\?follow=true/));
  stop();
});

it('nothing is watched for a log whose instances cannot be listed', async () => {
  const ended: boolean[] = [];
  server.answer(/^\/events/, (response) => {
    response.writeHead(200).flushHeaders();
    response.on('close', () => ended.push(true));
  });
  server.answer(/^\/containers\/json/, json({ message: 'disk full' }, 500));
  await expect(engine.follow(randomUUID(), () => undefined)).rejects.toThrow('disk full');
  await expect.poll(() => ended).toEqual([true]);
});

it('only an instance whose program cannot run is ended by its platform, and an image is read once', async () => {
  const exited = { Status: 'exited', Running: false, ExitCode: 1 };
  const image = { Image: 'foreign' };
  answerWith({ ...container(exited, image), Id: 'emulated' }, { ...container(exited, image), Id: 'refused' });
  server.answer(/^\/version/, json({ Version: '1', Os: 'linux', Arch: 'amd64' }));
  server.answer(/^\/images\/foreign/, json({ Os: 'linux', Architecture: 'arm64' }));
  server.answer(/^\/containers\/emulated\/logs/, log('no configuration'));
  server.answer(/^\/containers\/refused\/logs/, log('exec /shop: exec format error'));
  await engine.ping();
  await engine.list();
  const before = server.requests.filter((path) => path.startsWith('/images/')).length;
  const platforms = { image: 'linux/arm64', engine: 'linux/amd64' };
  const instances = await engine.list();
  expect(instances).toMatchObject([{ id: 'emulated' }, { id: 'refused', platforms }]);
  expect(instances[0]).not.toHaveProperty('platforms');
  expect(server.requests.filter((path) => path.startsWith('/images/'))).toHaveLength(before);
});

it('an image whose platform the engine does not tell hides no instance', async () => {
  answerWith(container({ Status: 'exited', Running: false, ExitCode: 1 }, { Image: 'other' }));
  server.answer(/^\/version/, json({ Version: '1', Os: 'linux', Arch: 'amd64' }));
  server.answer(/^\/containers\/ab\/logs/, log('exec format error'));
  for (const answer of [(response: ServerResponse) => void response.destroy(), json({ Os: '', Architecture: '' })]) {
    server.answer(/^\/images\/other/, answer);
    await engine.ping();
    const [instance] = await engine.list();
    expect(instance).toMatchObject({ id: 'ab' });
    expect(instance).not.toHaveProperty('platforms');
  }
});
