import { lookup } from 'node:dns';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { pipeline, type Readable, Transform } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { codeOf } from '../../model/errors.ts';

/** Node's global agents, or replacements of them, can use a proxy. These agents do not. */
const DIRECT = { plain: new Agent(), tls: new TlsAgent() };
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
};
const REDIRECTS = [301, 302, 303, 307, 308];
/** A longer wait has no limit. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const CREDENTIALS = /^(authorization|cookie|private-token)$/i;

/** Link-local addresses, and those of cloud metadata: their servers often return credentials of this machine to any client. */
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16);
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
LINK_LOCAL.addAddress('fd00:ec2::254', 'ipv6');
LINK_LOCAL.addAddress('100.100.100.200');

/** `headMs` and `totalMs` count from the start of the request, `silenceMs` between bytes. */
export interface ResponseLimits {
  headMs: number;
  silenceMs: number;
  totalMs: number;
  bytes: number;
}

const DEFAULT_LIMITS: ResponseLimits = { headMs: 30_000, silenceMs: 30_000, totalMs: 60_000, bytes: 64_000_000 };

/** Time limits of a response: for all of it, and without data. */
export function within(limitMs: number): Omit<ResponseLimits, 'bytes'> {
  return { headMs: limitMs, silenceMs: limitMs, totalMs: limitMs };
}

export interface OutgoingRequest {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Readable | undefined;
  signal?: AbortSignal;
  limits?: Partial<ResponseLimits>;
  /** Redirects to follow, within one scheme; credentials are not sent to another origin. Without it, the response is the redirect. */
  redirects?: number;
  /** Link-local and metadata hosts that may be asked; `all` for an address that the user or the platform itself chose. */
  linkLocal?: readonly string[] | 'all';
}

export interface RemoteResponse {
  status: number;
  statusText: string;
  headers: IncomingHttpHeaders;
  rawHeaders: readonly string[];
  /** Fails with RequestFailure above a limit, or if it ends before it is complete. */
  body: Readable;
}

/** Reason why there is no complete response, without the address. */
class RequestFailure extends Error {}

/**
 * The only way to read from another server: every wait and size has a limit. Ignores a proxy from the environment for addresses of this
 * machine, which it cannot reach. @throws RequestFailure
 */
export async function sendRequest(url: string | URL, request: OutgoingRequest): Promise<RemoteResponse> {
  const { redirects = 0, headers = {} } = request;
  const from = new URL(url);
  const startedAtMs = performance.now();
  const response = await exchange(from, request);
  const location = REDIRECTS.includes(response.status) ? response.headers.location : undefined;
  if (redirects === 0 || location === undefined) return response;
  response.body.destroy();
  if (!URL.canParse(location, from.href)) throw new RequestFailure(`it redirects to '${location}', which is not a URL`);
  const to = new URL(location, from.href);
  if (to.protocol !== from.protocol)
    throw new RequestFailure(
      `it redirects to ${to.href}, and redirects to another scheme are not followed. Use that address if you trust it.`,
    );
  if (redirects === 1) throw new RequestFailure('it redirects too often. Use the address of the last redirect.');
  const safeHeaders = Object.entries(headers).filter(([name]) => to.origin === from.origin || !CREDENTIALS.test(name));
  const { totalMs } = { ...DEFAULT_LIMITS, ...request.limits };
  const limits = { ...request.limits, totalMs: totalMs - (performance.now() - startedAtMs) };
  return sendRequest(to, { ...request, headers: Object.fromEntries(safeHeaders), limits, redirects: redirects - 1 });
}

export async function requestText(
  url: string | URL,
  request: OutgoingRequest,
): Promise<Omit<RemoteResponse, 'body'> & { text: string }> {
  const { body, ...response } = await sendRequest(url, request);
  return { ...response, text: await readText(body) };
}

async function exchange(
  url: URL,
  { method = 'GET', headers = {}, body, signal, limits, linkLocal = [] }: OutgoingRequest,
): Promise<RemoteResponse> {
  const { headMs, silenceMs, totalMs, bytes } = { ...DEFAULT_LIMITS, ...limits };
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RequestFailure(`${url.protocol} addresses cannot be requested. Use an http or https address.`);
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAllowed = linkLocal === 'all' || linkLocal.includes(host);
  if (!isAllowed && isLinkLocal(host)) throw refusal(host, host);
  if (signal?.aborted) throw canceled(signal);
  const agent = isThisMachine(host) ? DIRECT[isTls ? 'tls' : 'plain'] : undefined;
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent, ...(!isAllowed && { lookup: lookUpSafely }) };
    const outgoing = (isTls ? requestHttps : requestHttp)(url, options);
    const timers = new Set<NodeJS.Timeout>();
    let meter: Transform | undefined;
    const end = (failure?: Error) => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (!failure) return;
      outgoing.destroy();
      meter?.destroy(failure);
      reject(failure);
    };
    const onAbort = () => end(canceled(signal));
    const startTimer = (limitMs: number, reason: string, isReaderSlow = () => false) => {
      if (limitMs > LONGEST_TIMER_MS) return undefined;
      const timer = setTimeout(() => {
        if (isReaderSlow()) timer.refresh();
        else end(new RequestFailure(`${reason} ${limitMs / 1_000} s`));
      }, limitMs).unref();
      timers.add(timer);
      return timer;
    };
    const untilHead = startTimer(headMs, 'no response within');
    startTimer(totalMs, 'the response is not complete after');
    signal?.addEventListener('abort', onAbort);
    outgoing.once('response', (response) => {
      clearTimeout(untilHead);
      const body = meteredBody(response, bytes, () => silence?.refresh());
      meter = body;
      const silence = startTimer(silenceMs, 'the response stopped for', () => body.readableLength > 0);
      body.once('close', () => end());
      const { statusCode: status = 0, statusMessage: statusText = '', headers, rawHeaders } = response;
      resolve({ status, statusText, headers, rawHeaders, body });
    });
    outgoing.on('error', (failure) => end(failureOf(failure)));
    // Stream errors are also emitted on the request.
    if (body !== undefined && typeof body !== 'string') pipeline(body, outgoing, () => {});
    else outgoing.end(body);
  });
}

/** The body of a response, which fails above a size or if it ends early. `onData` is called for each piece. */
function meteredBody(response: IncomingMessage, maxBytes: number, onData: () => void): Transform {
  let seenBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onData();
      seenBytes += chunk.length;
      if (seenBytes <= maxBytes) return done(null, chunk);
      done(new RequestFailure(`the response has more than ${maxBytes / 1e6} MB, which is the limit`));
    },
  });
  // A reader that has left hears no failure.
  meter.on('error', () => {}).once('close', () => response.destroy());
  response.once('error', (failure) => meter.destroy(failureOf(failure)));
  return response.pipe(meter);
}

function failureOf(failure: Error): RequestFailure {
  if (failure instanceof RequestFailure) return failure;
  const code = codeOf(failure) ?? '';
  // An attempt at several addresses has a message for each, and none of its own.
  const message = failure.message || code;
  const isBroken = code === 'ECONNRESET' || code.startsWith('HPE_');
  const reason = isBroken ? `the response is missing or incomplete: ${message}` : (REASONS[code] ?? message);
  return new RequestFailure(reason, { cause: failure });
}

function canceled(signal: AbortSignal | undefined): RequestFailure {
  return new RequestFailure('the request was canceled', { cause: signal?.reason });
}

function refusal(host: string, address: string): RequestFailure {
  const target = host === address ? host : `${host} (${address})`;
  return new RequestFailure(
    `${target} is a link-local or metadata address, which can reveal credentials of this machine. ` +
      `If that is intended, add ${host} to the setting linkLocalHosts.`,
  );
}

function isLinkLocal(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LINK_LOCAL.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Resolves a name, unless one of its addresses is link-local. */
export const lookUpSafely: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (failure, addresses) => {
    const refused = addresses?.find(({ address }) => isLinkLocal(address));
    const [first] = addresses ?? [];
    if (failure || refused) callback(failure ?? refusal(host, refused?.address ?? ''), []);
    else if (options.all || !first) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

function isThisMachine(name: string): boolean {
  if (/(^|\.)localhost$/.test(name) || (isIPv4(name) && /^(127|0)\./.test(name)) || name === '::1') return true;
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === name));
}

/** The body of a response without its content encoding. A body that is missing or incomplete is not an error here. */
export function decodedBody({ body, headers }: Pick<RemoteResponse, 'body' | 'headers'>): Readable {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  const encoding = headers['content-encoding'];
  if (encoding === 'gzip') return pipeline(body, createGunzip({ finishFlush: Z_SYNC_FLUSH }), () => {});
  if (encoding === 'deflate') return pipeline(body, createInflate({ finishFlush: Z_SYNC_FLUSH }), () => {});
  if (encoding === 'br')
    return pipeline(body, createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH }), () => {});
  return body;
}
