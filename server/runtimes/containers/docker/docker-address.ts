import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SYSTEM, type System } from '../../../system/this-system.ts';
import { EngineUnreachable } from '../engine.ts';

export interface DockerTls {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

export interface DockerAddress {
  /** For messages: `unix:///var/run/docker.sock`, `tcp://build-host:2376`. Never contains a secret. */
  url: string;
  transport:
    | { kind: 'socket'; path: string }
    | { kind: 'tcp'; host: string; port: number; tls: DockerTls | undefined }
    | { kind: 'ssh'; host: string; port: number; user: string | undefined; agent: string | undefined };
  publishedHost: string;
  /** Address of the engine's host that ports are published on: loopback where that is this machine. */
  bindAddress: string;
  /** Can this machine reach containers at their own addresses? Not in a virtual machine, where another host may have such an address. */
  isOwnKernel: boolean;
}

/** Folders in the paths of sockets that lead into a virtual machine, also on Linux. */
const MACHINES = /\/(\.docker\/(desktop|run)|\.colima|\.config\/colima|\.lima|\.rd|\.orbstack|podman\/machine)\//;

/** The settings of the docker command, in the environment and the home folder, also apply here. */
export interface DockerUser {
  env: NodeJS.ProcessEnv;
  homeDir: string | undefined;
}

export interface AddressOptions extends DockerUser {
  platform?: System;
  exists?: (file: string) => boolean;
  /** For `url`; the environment's certificates are used when there are none. */
  tls?: DockerTls;
}

/**
 * Returns the requested address, else the one of the docker command: `DOCKER_HOST`, the current context, or the first usual socket that
 * exists. Throws EngineUnreachable if the address or the context cannot be used.
 */
export function dockerAddress(url: string | undefined, options: AddressOptions): DockerAddress {
  if (url !== undefined) return parseAddress(url, options);
  const { env } = options;
  if (env.DOCKER_HOST) return parseAddress(env.DOCKER_HOST, options);
  return contextAddress(options) ?? parseAddress(defaultSocket(options), options);
}

function parseAddress(url: string, options: AddressOptions): DockerAddress {
  const { env, platform = SYSTEM } = options;
  const socket = /^(unix|npipe):\/\/(.*)$/.exec(url);
  if (socket) {
    const path = socket[2] || defaultSocket(options).replace(/^\w+:\/\//, '');
    return {
      url,
      transport: { kind: 'socket', path: platform === 'win32' ? path.replaceAll('/', '\\') : path },
      publishedHost: '127.0.0.1',
      bindAddress: '127.0.0.1',
      isOwnKernel: platform === 'linux' && !MACHINES.test(path),
    };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^(tcp|https?|ssh):$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new EngineUnreachable(
      `'${withoutPassword(url)}' is not an address of a Docker engine. It must begin with unix://, npipe://, tcp://, http://, https:// or ssh://.`,
    );
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  const published = {
    publishedHost: isHere ? '127.0.0.1' : host,
    bindAddress: isHere ? '127.0.0.1' : '0.0.0.0',
    isOwnKernel: isHere && platform === 'linux',
  };
  const visibleUrl = withoutPassword(url);
  if (parsed.protocol === 'ssh:') {
    const user = parsed.username === '' ? undefined : decodeURIComponent(parsed.username);
    const port = Number(parsed.port || 22);
    return { url: visibleUrl, transport: { kind: 'ssh', host, port, user, agent: env.SSH_AUTH_SOCK }, ...published };
  }
  const isSecure = parsed.protocol === 'https:' || options.tls !== undefined || env.DOCKER_TLS_VERIFY === '1';
  const port = Number(parsed.port || (isSecure ? 2376 : 2375));
  const tls = isSecure ? (options.tls ?? certificatesIn(env.DOCKER_CERT_PATH ?? clientFolder(options))) : undefined;
  return { url: visibleUrl, transport: { kind: 'tcp', host, port, tls }, ...published };
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^/:@]*):[^/@]*@/, '$1@');
}

/** Pipes of Docker Desktop and Rancher Desktop, then of Docker Desktop without its default pipe, then of Podman. */
const PIPES = ['docker_engine', 'dockerDesktopLinuxEngine', 'podman-machine-default'];

/** Sockets below the home folder: Docker Desktop, OrbStack, Colima (two versions), Rancher Desktop, Podman. */
const HOME_SOCKETS = [
  '.docker/run/docker.sock',
  '.orbstack/run/docker.sock',
  '.colima/default/docker.sock',
  '.config/colima/default/docker.sock',
  '.rd/docker.sock',
  '.local/share/containers/podman/machine/podman.sock',
];

/** The first of the usual addresses that exists; the docker command's own if none does. */
function defaultSocket({ env, homeDir, platform = SYSTEM, exists = existsSync }: AddressOptions): string {
  if (platform === 'win32') {
    const pipe = PIPES.find((name) => exists(`\\\\.\\pipe\\${name}`)) ?? PIPES[0];
    return `npipe:////./pipe/${pipe}`;
  }
  const system = '/var/run/docker.sock';
  const inHome = homeDir === undefined ? [] : HOME_SOCKETS.map((file) => join(homeDir, file));
  const rootless = (name: string) => (env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, name)] : []);
  const podman = [...rootless('podman/podman.sock'), '/run/podman/podman.sock'];
  const candidates = [system, ...rootless('docker.sock'), ...inHome, ...podman];
  return `unix://${candidates.find((file) => exists(file)) ?? system}`;
}

export function clientFolder({ env, homeDir }: DockerUser): string | undefined {
  return env.DOCKER_CONFIG ?? (homeDir === undefined ? undefined : join(homeDir, '.docker'));
}

function certificatesIn(folder: string | undefined): DockerTls {
  if (folder === undefined) return {};
  const read = (name: string) => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
}

const contextFile = z.looseObject({ Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string() }) }) });
const clientFile = z.looseObject({ currentContext: z.string().optional() });

/** The current context's address; undefined when that is the default one. */
function contextAddress(options: AddressOptions): DockerAddress | undefined {
  const { env } = options;
  const folder = clientFolder(options);
  const name = env.DOCKER_CONTEXT || (folder !== undefined && currentContext(join(folder, 'config.json')));
  if (!name || name === 'default') return undefined;
  if (folder === undefined) {
    throw new EngineUnreachable(
      `the docker context '${name}' cannot be read, because this user has no home folder. Set HOME or DOCKER_CONFIG.`,
    );
  }
  const id = createHash('sha256').update(name).digest('hex');
  const file = join(folder, 'contexts', 'meta', id, 'meta.json');
  let host: string;
  try {
    host = contextFile.parse(JSON.parse(readFileSync(file, 'utf8'))).Endpoints.docker.Host;
  } catch (cause) {
    const advice = 'list the contexts with `docker context ls`, or set DOCKER_HOST';
    throw new EngineUnreachable(`the docker context '${name}' cannot be read (${file}): ${advice}`, { cause });
  }
  const tlsFolder = join(folder, 'contexts', 'tls', id, 'docker');
  return parseAddress(host, { ...options, ...(existsSync(tlsFolder) && { tls: certificatesIn(tlsFolder) }) });
}

function currentContext(file: string): string | undefined {
  try {
    return clientFile.parse(JSON.parse(readFileSync(file, 'utf8'))).currentContext;
  } catch {
    return undefined; // no file, or none of docker's: then there is no other context
  }
}

/** Returns the reason why a call failed with an error code, if this user may not open the engine's socket; undefined otherwise. */
export function closedSocketReason({ transport }: DockerAddress, code: unknown): string | undefined {
  if (transport.kind !== 'socket' || (code !== 'EACCES' && code !== 'EPERM')) return undefined;
  const group = groupOf(transport.path);
  const advice =
    group === undefined || group === 'root'
      ? "use this user's own engine (Podman: systemctl --user enable --now podman.socket)"
      : `join its group with \`sudo usermod -aG ${group} $USER\`, then sign in again`;
  return `the socket exists, but this user has no permission to open it; ${advice}`;
}

function groupOf(path: string): string | undefined {
  try {
    const { gid } = statSync(path);
    const lines = readFileSync('/etc/group', 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(gid))?.[0];
  } catch {
    return 'docker';
  }
}
