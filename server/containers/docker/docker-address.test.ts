import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dockerAddress } from './docker-address.ts';

const homeDir = mkdtempSync(join(tmpdir(), 'terrarium-docker-home-'));
afterAll(() => rmSync(homeDir, { recursive: true }));

const at = (url?: string, env: NodeJS.ProcessEnv = {}) => dockerAddress(url, { env, homeDir, platform: 'linux' });
const makeContext = (name: string, host: string) => {
  const id = createHash('sha256').update(name).digest('hex');
  const meta = join(homeDir, '.docker', 'contexts', 'meta', id);
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
};

describe('where the engine is', () => {
  it('is what was asked for, else DOCKER_HOST, else the current context, else the default socket', () => {
    expect(at()).toMatchObject({ url: 'unix:///var/run/docker.sock', bindAddress: '127.0.0.1' });
    makeContext('desk', 'unix:///run/desk.sock');
    writeFileSync(join(homeDir, '.docker', 'config.json'), '{"currentContext": "desk", "auths": {}}');
    expect(at().transport).toEqual({ kind: 'socket', path: '/run/desk.sock' });
    expect(at(undefined, { DOCKER_CONTEXT: 'default' }).url).toBe('unix:///var/run/docker.sock');
    expect(at(undefined, { DOCKER_HOST: 'tcp://build:2375' }).url).toBe('tcp://build:2375');
    expect(at('unix:///asked.sock', { DOCKER_HOST: 'tcp://build:2375' }).url).toBe('unix:///asked.sock');
  });

  it("is Podman's where Docker has no socket: the user's own, else the system's", () => {
    const [rootless, rootful] = ['/run/user/1000/podman/podman.sock', '/run/podman/podman.sock'];
    const among = (...files: string[]) => {
      const env = { XDG_RUNTIME_DIR: '/run/user/1000', DOCKER_CONTEXT: 'default' };
      return dockerAddress(undefined, { env, homeDir, platform: 'linux', exists: (file) => files.includes(file) }).url;
    };
    expect(among(rootless, rootful)).toBe(`unix://${rootless}`);
    expect(among(rootful)).toBe(`unix://${rootful}`);
    expect(among('/var/run/docker.sock', rootless, rootful)).toBe('unix:///var/run/docker.sock');
    expect(among()).toBe('unix:///var/run/docker.sock');
  });

  it('publishes on loopback where it is this machine, and on all addresses of another one', () => {
    expect(at('tcp://127.0.0.1:2375')).toMatchObject({ bindAddress: '127.0.0.1', publishedHost: '127.0.0.1' });
    expect(at('tcp://build:2375')).toMatchObject({ bindAddress: '0.0.0.0', publishedHost: 'build' });
  });

  it('is spoken to by TLS where that is said, with the certificates of DOCKER_CERT_PATH', () => {
    const certificates = join(homeDir, 'certificates');
    mkdirSync(certificates);
    for (const name of ['ca', 'cert', 'key']) writeFileSync(join(certificates, `${name}.pem`), name);
    const env = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates };
    const tls = { ca: 'ca', cert: 'cert', key: 'key' };
    expect(at('tcp://build', env).transport).toEqual({ kind: 'tcp', host: 'build', port: 2376, tls });
    expect(at('https://build:8443').transport).toMatchObject({ port: 8443, tls: {} });
    expect(at('tcp://build').transport).toMatchObject({ port: 2375, tls: undefined });
  });

  it('can be behind ssh', () => {
    expect(at('ssh://ada@build:2222', { SSH_AUTH_SOCK: '/agent' }).transport).toEqual({
      kind: 'ssh',
      host: 'build',
      port: 2222,
      user: 'ada',
      agent: '/agent',
    });
  });

  it('that cannot be used is told without its password', () => {
    expect(() => at('ftp://ada:secret@build')).toThrow(/'ftp:\/\/ada@build' is no address of a Docker engine/);
    expect(() => at(undefined, { DOCKER_CONTEXT: 'nowhere' })).toThrow(/the docker context 'nowhere' cannot be read/);
  });
});
