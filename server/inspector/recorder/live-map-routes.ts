import type { Router } from 'express';
import { liveMapRoutes, type MapNode } from '../../api/routes/live-map.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { failedCalls } from '../../model/failed-call.ts';
import { timeOf } from '../../model/iso-time.ts';
import { isUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { hostOf, publicPathOf } from '../../model/types/apiendpoint.ts';
import type { MarkedPlace, Placed, RecordLog } from '../../storage/records/record-log.ts';
import { columnOf, type NodeId, type Passage, toLiveMap } from './live-map.ts';
import { isGatewayKind, type RecordedExchange } from './recorded-exchange.ts';
import { detailsOf, type RecordedInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { type RecordedData, readingFor } from './recorder-routes.ts';

const RANGE_MS = 60 * 60_000;
/** Requests that ended earlier are not shown as passing. */
const LISTED_MS = 10_000;
const MAX_PASSAGES = 20_000;

const CALLERS: Readonly<Record<string, string>> = {
  anonymous: 'Without account',
  account: 'Other accounts',
  replay: 'Replays',
  manual: 'Runs by hand',
  event: 'Events of resources',
  move: 'Migrations',
  periodic: 'Schedules',
};
const MOCKS = { crm: 'Mock CRM', mail: 'Mock mail server', scm: 'Mock GitLab' } as const;
const UNPUBLISHED: NodeId = 'endpoints:unpublished';
const CONTAINER_OF = 'container of ';
/** Browsers request it from every site, so its absence is not a failure. */
const ICON_TARGET = '/favicon.ico';

/** A passage, and the resource that one has to see to learn of it. */
interface OwnedPassage extends Passage {
  ownerId: Uuid | undefined;
}

/** The passages of the last hour. Each record is read once, when the map is next requested. */
class PassageLog {
  passages: OwnedPassage[] = [];
  /** Older records were not read. */
  countedFromMs: number | undefined;
  readonly lambdaNames = new Map<Uuid, string>();
  readonly #recorder: Recorder;
  readonly #scmHost: () => string;
  #lastExchange = 0;
  #lastInvocation = 0;
  #seq = 0;

  constructor(recorder: Recorder, scmHost: () => string) {
    this.#recorder = recorder;
    this.#scmHost = scmHost;
  }

  update(fromMs: number): void {
    const { exchanges, invocations } = this.#recorder;
    const { passages } = this;
    const isPublic = ({ kind }: MarkedPlace) => isGatewayKind(kind);
    const added = [
      ...newRecords(exchanges, this.#lastExchange, fromMs, isPublic).flatMap((placed) => [...this.#exchange(placed)]),
      ...newRecords(invocations, this.#lastInvocation, fromMs).flatMap((placed) => [...this.#invocation(placed)]),
    ].sort((a, b) => a.endedAtMs - b.endedAtMs);
    this.#lastExchange = exchanges.newest;
    this.#lastInvocation = invocations.newest;
    for (const passage of added) passages.push({ ...passage, seq: ++this.#seq });
    const cut = passages.length - MAX_PASSAGES;
    if (cut > 0) this.countedFromMs = passages[cut]?.endedAtMs;
    else if ((this.countedFromMs ?? 0) < fromMs) this.countedFromMs = undefined;
    this.passages = passages.slice(Math.max(0, cut)).filter(({ endedAtMs }) => endedAtMs >= fromMs);
  }

  *#exchange({ seq, item }: Placed<RecordedExchange>): Generator<Omit<OwnedPassage, 'seq'>> {
    const { endpointId, executionId, userId, status = 0, upstreamMs } = item;
    if (endpointId === undefined && item.target === ICON_TARGET) return;
    const hasPassed = executionId !== undefined || upstreamMs > 0;
    const common = {
      endedAtMs: Date.parse(item.at) + item.durationMs,
      ownerId: endpointId,
      requestSeq: seq,
    };
    const endpoint = endpointNode(endpointId);
    const isRejected = !hasPassed && (status === 0 || status >= 400);
    yield { ...common, from: `callers:${userId ?? 'anonymous'}`, to: endpoint, isFailed: isRejected };
    // The container that it leads to now: requests do not record it.
    if (executionId === undefined && upstreamMs > 0)
      yield {
        ...{ ...common, from: endpoint, to: `targets:${CONTAINER_OF}${endpointId}` },
        isFailed: status === 0 || status >= 500,
      };
  }

  *#invocation({ item }: Placed<RecordedInvocation>): Generator<Omit<OwnedPassage, 'seq'>> {
    const { executionId, lambdaId, trigger, replayOf, outcome } = item;
    this.lambdaNames.set(lambdaId, item.lambdaName);
    const { bodies, exchanges } = this.#recorder;
    const details = detailsOf(bodies, item);
    const isByGateway = trigger === 'gateway' || trigger === 'async';
    const source = (): NodeId => {
      if (replayOf !== undefined) return 'callers:replay';
      if (!isByGateway) return `callers:${trigger}`;
      return endpointNode(details?.context.apiEndpointId ?? exchanges.find(executionId)?.item.endpointId);
    };
    const lambda: NodeId = `targets:${lambdaId}`;
    const calls = details?.outbound ?? [];
    const failed = new Set(failedCalls(calls));
    const isRepair = outcome.ok && failed.size === 0;
    const common = { endedAtMs: Date.parse(item.finishedAt), ownerId: lambdaId, executionId };
    const repairedId = isRepair ? replayOf : undefined;
    yield { ...common, from: source(), to: lambda, isFailed: !outcome.ok, repairedId };
    for (const call of calls) {
      const to: NodeId = `outside:${call.caughtBy ?? this.#hostOf(call.url)}`;
      yield { ...common, from: lambda, to, isFailed: failed.has(call) };
    }
  }

  #hostOf(url: string): string {
    const host = URL.canParse(url) ? new URL(url).host : url;
    return host === this.#scmHost() ? 'scm' : host;
  }
}

/** Records since a position, oldest first. Only the newest are read if there are too many. */
function newRecords<T>(
  log: RecordLog<T>,
  after: number,
  fromMs: number,
  isWanted: (entry: MarkedPlace) => boolean = () => true,
): Placed<T>[] {
  const records: Placed<T>[] = [];
  for (const entry of log.marks()) {
    if (entry.seq <= after || records.length === MAX_PASSAGES) break;
    if (entry.beganMs + (entry.tookMs || 0) < fromMs || !isWanted(entry)) continue;
    const placed = log.at(entry.seq);
    if (placed) records.push(placed);
  }
  return records.reverse();
}

const endpointNode = (id: Uuid | undefined): NodeId => (id === undefined ? UNPUBLISHED : `endpoints:${id}`);
const keyOf = (id: NodeId) => id.slice(id.indexOf(':') + 1);

export function liveMapRouter(data: RecordedData & { scmHost(): string }, guard: RouteGuard): Router {
  const { view } = guard;
  const log = new PassageLog(data.recorder, data.scmHost);
  return mountRoutes(liveMapRoutes, guard, {
    readLiveMap({ caller, query: { scope } }) {
      const nowMs = data.nowMs();
      log.update(nowMs - RANGE_MS);
      const { hide, isWanted, sees } = readingFor(data, guard, caller, { scope });
      const passages = log.passages.flatMap(({ ownerId, ...passage }) => {
        if (!isWanted(ownerId)) return [];
        const [from, to] = [visibleNode(passage.from), visibleNode(passage.to)];
        return to === undefined ? [] : { ...passage, from, to };
      });
      const endpointIds = idsOf('apiendpoints');
      const map = toLiveMap({
        passages,
        nodeIds: [
          ...(endpointIds.length > 0 ? (['callers:anonymous'] as const) : []),
          ...endpointIds.map((id): NodeId => `endpoints:${id}`),
          ...[...idsOf('lambdas'), ...idsOf('containers')].map((id): NodeId => `targets:${id}`),
          ...Object.keys(MOCKS).map((mock): NodeId => `outside:${mock}`),
        ],
        describe: (id) => describeNode(view, id, log.lambdaNames),
        targetOf: (id) => (columnOf(id) === 'endpoints' ? targetNode(keyOf(id)) : undefined),
        listedFromMs: nowMs - LISTED_MS,
      });
      const { countedFromMs } = log;
      return hide.value({ ...map, ...(countedFromMs !== undefined && { countedFrom: timeOf(countedFromMs) }) });

      function idsOf(collection: 'apiendpoints' | 'lambdas' | 'containers'): Uuid[] {
        return view.all(collection).flatMap(({ id }) => (isWanted(id) ? id : []));
      }

      /** Returns undefined for a resource that the caller may not view. */
      function visibleNode(id: NodeId | undefined): NodeId | undefined {
        if (id === undefined) return undefined;
        const key = keyOf(id);
        if (key.startsWith(CONTAINER_OF)) return visibleNode(targetNode(key.slice(CONTAINER_OF.length)));
        if (!isUuid(key) || sees(key)) return id;
        return columnOf(id) === 'callers' ? 'callers:account' : undefined;
      }

      function targetNode(endpointId: Uuid): NodeId | undefined {
        const { implementation_id: targetId } = view.find(endpointId)?.properties ?? {};
        return typeof targetId === 'string' ? `targets:${targetId}` : undefined;
      }
    },
  });
}

function describeNode(
  view: WorldView,
  id: NodeId,
  lambdaNames: ReadonlyMap<Uuid, string>,
): Pick<MapNode, 'kind' | 'name' | 'resourceId'> {
  const key = keyOf(id);
  const column = columnOf(id);
  if (id === UNPUBLISHED) return { kind: 'unpublished', name: 'Other paths' };
  if (column === 'outside') {
    // As: the mocks are the keys.
    const mock = key in MOCKS ? (key as keyof typeof MOCKS) : undefined;
    return mock ? { kind: mock, name: MOCKS[mock] } : { kind: 'host', name: key };
  }
  const caller = column === 'callers' ? CALLERS[key] : undefined;
  if (caller !== undefined) return { kind: 'caller', name: caller };
  const resource = view.find(key);
  if (!resource) return { kind: 'deleted', name: `${lambdaNames.get(key) ?? column.replace(/s$/, '')} (deleted)` };
  if (column === 'endpoints') return { kind: 'endpoint', name: endpointName(view, resource), resourceId: key };
  const kind = column === 'callers' ? 'user' : typeOf(resource).collection === 'lambdas' ? 'lambda' : 'container';
  return { kind, name: resource.name, resourceId: key };
}

/** Methods and path, such as `POST /website/lead`; with a host if the endpoint has one of its own. */
function endpointName(view: WorldView, endpoint: StoredResource): string {
  const { methods } = endpoint.properties;
  const address = `${hostOf(endpoint) ?? ''}${publicPathOf(view, endpoint)}`;
  return Array.isArray(methods) && methods.length > 0 ? `${methods.join(' ')} ${address}` : address;
}
