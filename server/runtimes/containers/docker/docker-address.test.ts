import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerInspectInfo } from 'dockerode';
import { afterAll, describe, expect, it } from 'vitest';
import { dockerAddress } from './docker-address.ts';
import { readInstance } from './read-instance.ts';

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
  it('is the configured one, else DOCKER_HOST, else the current context, else the default socket', () => {
    expect(at()).toMatchObject({ url: 'unix:///var/run/docker.sock', bindAddress: '127.0.0.1' });
    makeContext('desk', 'unix:///run/desk.sock');
    writeFileSync(join(homeDir, '.docker', 'config.json'), '{"currentContext": "desk", "auths": {}}');
    expect(at().transport).toEqual({ kind: 'socket', path: '/run/desk.sock' });
    expect(at(undefined, { DOCKER_CONTEXT: 'default' }).url).toBe('unix:///var/run/docker.sock');
    expect(at(undefined, { DOCKER_HOST: 'tcp://build:2375' }).url).toBe('tcp://build:2375');
    expect(at('unix:///asked.sock', { DOCKER_HOST: 'tcp://build:2375' }).url).toBe('unix:///asked.sock');
  });

  it('is looked for without a home folder, too; a context that only such a folder could explain is refused', () => {
    const homeless = (env: NodeJS.ProcessEnv) =>
      dockerAddress(undefined, { env, homeDir: undefined, platform: 'linux' });
    expect(homeless({}).url).toBe('unix:///var/run/docker.sock');
    expect(homeless({ DOCKER_CONFIG: join(homeDir, '.docker'), DOCKER_CONTEXT: 'desk' }).url).toBe(
      'unix:///run/desk.sock',
    );
    expect(homeless({ DOCKER_HOST: 'https://build' }).transport).toMatchObject({ tls: {} });
    expect(() => homeless({ DOCKER_CONTEXT: 'desk' })).toThrow(
      "the docker context 'desk' cannot be read, because this user has no home folder. Set HOME or DOCKER_CONFIG.",
    );
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

  it.each([
    ['darwin', '/Users/ada/.docker/run/docker.sock'],
    ['darwin', '/Users/ada/.orbstack/run/docker.sock'],
    ['darwin', '/Users/ada/.colima/default/docker.sock'],
    ['darwin', '/Users/ada/.config/colima/default/docker.sock'],
    ['darwin', '/Users/ada/.rd/docker.sock'],
    ['darwin', '/Users/ada/.local/share/containers/podman/machine/podman.sock'],
    ['linux', '/run/user/1000/docker.sock'],
  ] as const)('is found on %s at %s', (platform, socket) => {
    const env = { XDG_RUNTIME_DIR: '/run/user/1000' };
    const exists = (file: string) => file === socket || file === '/run/podman/podman.sock';
    const { transport } = dockerAddress(undefined, { env, homeDir: '/Users/ada', platform, exists });
    expect(transport).toEqual({ kind: 'socket', path: socket });
  });

  it.each(['docker_engine', 'dockerDesktopLinuxEngine', 'podman-machine-default'])(
    'is found at the pipe %s',
    (name) => {
      const path = `\\\\.\\pipe\\${name}`;
      const exists = (file: string) => file === path;
      const options = { env: {}, homeDir: 'C:\\Users\\ada', platform: 'win32', exists } as const;
      expect(dockerAddress(undefined, options).transport).toEqual({ kind: 'socket', path });
    },
  );

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

  it('that is invalid is reported without its password', () => {
    expect(() => at('ftp://ada:secret@build')).toThrow(/'ftp:\/\/ada@build' is not an address of a Docker engine/);
    expect(() => at(undefined, { DOCKER_CONTEXT: 'nowhere' })).toThrow(/the docker context 'nowhere' cannot be read/);
  });

  it.each([
    ['linux', 'unix:///var/run/docker.sock', true],
    ['linux', 'unix:///run/user/1000/podman/podman.sock', true],
    ['linux', 'unix:///home/ada/.docker/desktop/docker.sock', false],
    ['linux', 'unix:///home/ada/.colima/default/docker.sock', false],
    ['linux', 'tcp://127.0.0.1:2375', true],
    ['linux', 'tcp://build:2375', false],
    ['darwin', 'unix:///var/run/docker.sock', false],
    ['win32', 'npipe:////./pipe/docker_engine', false],
  ] as const)(
    'on %s at %s shares the kernel of this machine, and so the addresses of containers: %s',
    (platform, url, isOwn) => {
      const address = dockerAddress(url, { env: {}, homeDir, platform });
      expect(address.isOwnKernel).toBe(isOwn);
      const network = {
        Networks: { one: { IPAddress: '172.17.0.2' } },
        Ports: { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '32768' }] },
      };
      const state = { StartedAt: '', Running: true, Status: 'running' };
      // As: the members that are read.
      const found = {
        Id: 'a',
        Image: 'b',
        State: state,
        Config: { Labels: {} },
        HostConfig: {},
        NetworkSettings: network,
      } as unknown as ContainerInspectInfo;
      const { ipAddress, addresses } = readInstance(found, address);
      // Elsewhere another host can have such an address: what is published there is asked.
      expect(ipAddress).toBe(isOwn ? '172.17.0.2' : undefined);
      expect(addresses).toEqual([{ containerPort: 80, host: address.publishedHost, port: 32768 }]);
    },
  );
});
