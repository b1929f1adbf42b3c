import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { EngineUnreachable } from '../engine-errors.ts';

/** What a TLS connection to a daemon is made with, as PEM texts. */
export interface DockerTls {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** Where a daemon is, and how it is spoken to. */
export interface DockerAddress {
  /** For messages: `unix:///var/run/docker.sock`, `tcp://build-host:2376`. Never holds a secret. */
  url: string;
  transport:
    | { kind: 'socket'; path: string }
    | { kind: 'tcp'; host: string; port: number; tls: DockerTls | undefined }
    | { kind: 'ssh'; host: string; port: number; user: string | undefined; agent: string | undefined };
  /** Host on which published ports are reached from here. */
  publishedHost: string;
  /** Address of the engine's host that ports are published on: loopback where that is this machine. */
  bindAddress: string;
}

export interface AddressOptions {
  env: NodeJS.ProcessEnv;
  homeDir: string;
  platform?: NodeJS.Platform;
  /** Is there a file? Asked for sockets. */
  exists?: (file: string) => boolean;
  /** For `url`; the environment's certificates are used when there are none. */
  tls?: DockerTls;
}

/**
 * Where the engine is: the address that was asked for, else what the docker command would use, in its order: `DOCKER_HOST`, the
 * current context, the default socket. Where Docker has no socket and Podman has, it is Podman's: this user's own, or the system's.
 *
 * @param url unix://, npipe://, tcp://, http://, https:// or ssh://; undefined for the docker command's
 * @throws EngineUnreachable when the address or the context cannot be used; the sentence says why
 */
export function dockerAddress(url: string | undefined, options: AddressOptions): DockerAddress {
  if (url !== undefined) return parseAddress(url, options);
  const { env } = options;
  if (env.DOCKER_HOST) return parseAddress(env.DOCKER_HOST, options);
  return contextAddress(options) ?? parseAddress(defaultSocket(options), options);
}

function parseAddress(url: string, options: AddressOptions): DockerAddress {
  const { env, platform = process.platform } = options;
  const socket = /^(unix|npipe):\/\/(.*)$/.exec(url);
  if (socket) {
    const path = socket[2] || defaultSocket(options).replace(/^\w+:\/\//, '');
    return {
      url,
      transport: { kind: 'socket', path: platform === 'win32' ? path.replaceAll('/', '\\') : path },
      publishedHost: '127.0.0.1',
      bindAddress: '127.0.0.1',
    };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^(tcp|https?|ssh):$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new EngineUnreachable(
      `'${withoutPassword(url)}' is no address of a Docker engine: it begins with unix://, npipe://, tcp://, http://, https:// or ssh://`,
    );
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  const published = { publishedHost: isHere ? '127.0.0.1' : host, bindAddress: isHere ? '127.0.0.1' : '0.0.0.0' };
  const shown = withoutPassword(url);
  if (parsed.protocol === 'ssh:') {
    const user = parsed.username === '' ? undefined : decodeURIComponent(parsed.username);
    const port = Number(parsed.port || 22);
    return { url: shown, transport: { kind: 'ssh', host, port, user, agent: env.SSH_AUTH_SOCK }, ...published };
  }
  const isSecure = parsed.protocol === 'https:' || options.tls !== undefined || env.DOCKER_TLS_VERIFY === '1';
  const port = Number(parsed.port || (isSecure ? 2376 : 2375));
  const tls = isSecure
    ? (options.tls ?? certificatesIn(env.DOCKER_CERT_PATH ?? join(options.homeDir, '.docker')))
    : undefined;
  return { url: shown, transport: { kind: 'tcp', host, port, tls }, ...published };
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^/:@]*):[^/@]*@/, '$1@');
}

function defaultSocket({ env, homeDir, platform = process.platform, exists = existsSync }: AddressOptions): string {
  if (platform === 'win32') return 'npipe:////./pipe/docker_engine';
  const system = '/var/run/docker.sock';
  const candidates = [system, join(homeDir, '.docker', 'run', 'docker.sock')];
  if (env.XDG_RUNTIME_DIR) candidates.push(join(env.XDG_RUNTIME_DIR, 'podman', 'podman.sock'));
  candidates.push('/run/podman/podman.sock');
  return `unix://${candidates.find((file) => exists(file)) ?? system}`;
}

function certificatesIn(folder: string): DockerTls {
  const read = (name: string) => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const [ca, cert, key] = [read('ca.pem'), read('cert.pem'), read('key.pem')];
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

const contextFile = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string() }) }),
});
const clientFile = z.looseObject({ currentContext: z.string().optional() });

/** The current context's address; undefined when that is the default one. */
function contextAddress(options: AddressOptions): DockerAddress | undefined {
  const { env, homeDir } = options;
  const folder = env.DOCKER_CONFIG ?? join(homeDir, '.docker');
  const name = env.DOCKER_CONTEXT || currentContext(join(folder, 'config.json'));
  if (!name || name === 'default') return undefined;
  const id = createHash('sha256').update(name).digest('hex');
  const file = join(folder, 'contexts', 'meta', id, 'meta.json');
  let host: string;
  try {
    host = contextFile.parse(JSON.parse(readFileSync(file, 'utf8'))).Endpoints.docker.Host;
  } catch (cause) {
    const advice = 'list the contexts with `docker context ls`, or set containers.engine';
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
