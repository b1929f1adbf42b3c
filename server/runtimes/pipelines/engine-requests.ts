import { z } from 'zod';

export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).every(isEmpty) : !value;
/** Leaves out what clients send with every request, such as settings of other systems. */
const LEFT_OUT = z
  .unknown()
  .refine(isEmpty)
  .transform(() => undefined);
/** An object with these members; others must be empty, and the engine does not get them. */
const members = <T extends z.ZodRawShape>(shape: T) => z.object(shape).catchall(LEFT_OUT);

const flag = z.boolean().nullish();
const number = z.number().nullish();
const text = z.string().nullish();
const texts = z.array(z.string()).nullish();
const textList = z.union([z.string(), z.array(z.string())]).nullish();
const map = z.record(z.string(), z.string()).nullish();
const size = z.tuple([z.number(), z.number()]).nullish();
/** A set in the form of an object; values other than an empty object would name something of the machine. */
const set = (name: RegExp) => z.record(z.string().regex(name), z.strictObject({})).nullish();

/** Members of one type. */
const all = <N extends string, T>(type: T, ...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, type])) as Record<N, T>;

const limits = {
  ...all(
    number,
    'CpuPeriod',
    'CpuQuota',
    'CpuShares',
    'Memory',
    'MemoryReservation',
    'MemorySwap',
    'NanoCpus',
    'PidsLimit',
  ),
  CpusetCpus: text,
  RestartPolicy: members({ Name: text, MaximumRetryCount: number }).nullish(),
};

const hostConfig = members({
  ...limits,
  ...all(number, 'MemorySwappiness', 'ShmSize'),
  ...all(flag, 'AutoRemove', 'Init', 'ReadonlyRootfs'),
  ...all(texts, 'CapDrop', 'Dns', 'DnsOptions', 'DnsSearch', 'ExtraHosts'),
  CgroupnsMode: z.enum(['', 'private']).nullish(),
  ConsoleSize: size,
  IpcMode: z.enum(['', 'none', 'private']).nullish(),
  // An empty list would show and open all of them.
  ...all(z.null().optional(), 'MaskedPaths', 'ReadonlyPaths'),
  NetworkMode: text,
  Tmpfs: map,
  Ulimits: z.array(members({ Name: z.string(), Soft: z.number(), Hard: z.number() })).nullish(),
});

/** The members of a container, and of a program that starts later in it. */
const program = {
  ...all(flag, 'AttachStderr', 'AttachStdin', 'AttachStdout', 'Tty'),
  ...all(text, 'User', 'WorkingDir'),
  Env: texts,
};

export const newContainer = members({
  ...program,
  ...all(flag, 'ArgsEscaped', 'NetworkDisabled', 'OpenStdin', 'StdinOnce'),
  ...all(text, 'Domainname', 'Hostname', 'StopSignal'),
  ...all(textList, 'Cmd', 'Entrypoint'),
  ExposedPorts: set(/^[\w/-]+$/),
  Healthcheck: members({
    ...all(number, 'Interval', 'Retries', 'StartInterval', 'StartPeriod', 'Timeout'),
    Test: texts,
  }).nullish(),
  HostConfig: hostConfig.nullish(),
  Image: z.string(),
  Labels: map,
  NetworkingConfig: members({
    EndpointsConfig: z.record(z.string(), members({ Aliases: texts }).nullish()).nullish(),
  }).nullish(),
  Shell: texts,
  StopTimeout: number,
  Volumes: set(/^\/[^:]*$/),
});

const newExec = members({ ...program, Cmd: texts, ConsoleSize: size, DetachKeys: text });
const execStart = members({ ConsoleSize: size, Detach: flag, Tty: flag });
const login = members(
  all(text, 'auth', 'email', 'identitytoken', 'password', 'registrytoken', 'serveraddress', 'username'),
);

const ANY = /^/;
const FLAG = /^(?:1|0|true|false|True|False)?$/;
const NUMBER = /^-?\d*$/;
/** A reference to an image, or a part of it. */
const NAME = /^[\w.:/@-]*$/;
const build = {
  ...all(ANY, 'buildargs', 'cachefrom', 'dockerfile', 'extrahosts', 'labels', 'target', 'ulimits'),
  ...all(NUMBER, 'cpuperiod', 'cpuquota', 'cpushares', 'memory', 'memswap', 'shmsize'),
  ...all(FLAG, 'forcerm', 'nocache', 'pull', 'q', 'rm', 'squash'),
  ...all(NAME, 'buildid', 'platform', 'session', 't'),
  ...all(/^[\d,-]*$/, 'cpusetcpus', 'cpusetmems'),
  networkmode: /^(?:default|bridge|none)?$/,
  // What a build writes goes to the client, or nowhere.
  outputs: /^(?:\[\{"Type":"(?:cacheonly|local|tar)","Attrs":(?:null|\{\})\}\]|\[\]|null)?$/,
  // Another address would be read by the engine, which is not in the network of the job.
  remote: /^(?:client-session)?$/,
  version: /^[12]?$/,
};

export interface EngineRequest {
  /** The members of its query, with the form of their values. */
  query?: Readonly<Record<string, RegExp>>;
  /** Without it, the request has no body. */
  body?: z.ZodType | 'archive';
  isUpgrade?: true;
}

const attach = { detachKeys: ANY, ...all(FLAG, 'logs', 'stderr', 'stdin', 'stdout', 'stream') };
const stop = { signal: /^[\w+-]*$/, t: NUMBER };
const terminalSize = { h: NUMBER, w: NUMBER };

/**
 * The requests to the engine that a job may make, by method and path. `container`, `exec` and `madeImage` are made by the run; `image` is any
 * of the machine.
 */
const ENGINE_REQUESTS: Readonly<Record<string, EngineRequest>> = {
  'GET /_ping': {},
  'HEAD /_ping': {},
  'GET /version': {},
  'GET /info': {},
  'POST /auth': { body: login },
  'POST /session': { isUpgrade: true },
  'POST /grpc': { isUpgrade: true },
  'POST /build': { query: build, body: 'archive' },
  'POST /build/cancel': { query: { id: NAME } },
  'GET /distribution/{image}/json': {},
  'GET /images/json': { query: { all: FLAG, digests: FLAG, filters: ANY, manifests: FLAG, 'shared-size': FLAG } },
  'POST /images/create': {
    query: { changes: ANY, fromImage: NAME, fromSrc: /^-?$/, message: ANY, platform: NAME, repo: NAME, tag: NAME },
    body: 'archive',
  },
  'POST /images/load': { query: { quiet: FLAG }, body: 'archive' },
  'GET /images/get': { query: { names: NAME } },
  'GET /images/{image}/json': { query: { manifests: FLAG } },
  'GET /images/{image}/history': {},
  'GET /images/{madeImage}/get': {},
  'POST /images/{madeImage}/push': { query: { tag: NAME } },
  'POST /images/{madeImage}/tag': { query: { repo: NAME, tag: NAME, force: FLAG } },
  'DELETE /images/{image}': { query: { force: FLAG, noprune: FLAG } },
  'GET /networks': { query: { filters: ANY } },
  'GET /containers/json': { query: { all: FLAG, filters: ANY, limit: NUMBER, size: FLAG } },
  'POST /containers/create': { query: { name: ANY, platform: NAME }, body: newContainer },
  'GET /containers/{container}/json': { query: { size: FLAG } },
  'GET /containers/{container}/top': { query: { ps_args: /^[\w ,=-]*$/ } },
  'GET /containers/{container}/logs': {
    query: {
      ...all(FLAG, 'details', 'follow', 'stderr', 'stdout', 'timestamps'),
      ...all(ANY, 'since', 'tail', 'until'),
    },
  },
  'GET /containers/{container}/changes': {},
  'GET /containers/{container}/export': {},
  'GET /containers/{container}/stats': { query: { 'one-shot': FLAG, stream: FLAG } },
  'POST /containers/{container}/resize': { query: terminalSize },
  'POST /containers/{container}/start': { query: { detachKeys: ANY } },
  'POST /containers/{container}/stop': { query: stop },
  'POST /containers/{container}/restart': { query: stop },
  'POST /containers/{container}/kill': { query: { signal: /^[\w+-]*$/ } },
  'POST /containers/{container}/update': { body: members(limits) },
  'POST /containers/{container}/rename': { query: { name: ANY } },
  'POST /containers/{container}/pause': {},
  'POST /containers/{container}/unpause': {},
  'POST /containers/{container}/attach': { query: attach, isUpgrade: true },
  'POST /containers/{container}/wait': { query: { condition: /^[\w-]*$/ } },
  'DELETE /containers/{container}': { query: { force: FLAG, link: FLAG, v: FLAG } },
  'HEAD /containers/{container}/archive': { query: { path: ANY } },
  'GET /containers/{container}/archive': { query: { path: ANY } },
  'PUT /containers/{container}/archive': {
    query: { copyUIDGID: FLAG, noOverwriteDirNonDir: FLAG, path: ANY },
    body: 'archive',
  },
  'POST /containers/{container}/exec': { body: newExec },
  'GET /exec/{exec}/json': {},
  'POST /exec/{exec}/start': { body: execStart, isUpgrade: true },
  'POST /exec/{exec}/resize': { query: terminalSize },
};

type Subject = 'container' | 'exec' | 'image' | 'madeImage';

const PARAMETER = /\{(\w+)\}/;
const PATTERNS = Object.entries(ENGINE_REQUESTS).map(([call, request]) => {
  const [, subject] = PARAMETER.exec(call) ?? [];
  const form = subject === 'image' || subject === 'madeImage' ? '(\\w[\\w.:@-]*(?:/\\w[\\w.:@-]*)*)' : '([\\w.-]+)';
  return {
    call,
    request,
    subject: subject as Subject | undefined,
    pattern: new RegExp(`^${call.replace(PARAMETER, form)}$`),
  };
});

/** The row of the table for a method and path without a version, with the name in it. */
export function findEngineRequest(call: string) {
  for (const { pattern, ...row } of PATTERNS) {
    const [match, name = ''] = pattern.exec(call) ?? [];
    if (match !== undefined && !name.includes('..')) return { ...row, name };
  }
  return undefined;
}

/** The body with the members of its schema only, or the name of the member that may not have its value. */
export function rebuild(schema: z.ZodType, input: unknown): { value: unknown } | { refused: string } {
  const { success, data, error } = schema.safeParse(input);
  if (success) return { value: data };
  const path = error.issues[0]?.path ?? [];
  return { refused: String(path.find((part) => part !== 'HostConfig') ?? 'this body') };
}
