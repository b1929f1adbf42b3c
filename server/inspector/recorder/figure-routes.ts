import type { Router } from 'express';
import { figureRoutes } from '../../api/routes/recorded.ts';
import {
  exchangeQuery,
  invocationQuery,
  lineQuery,
  outboundQuery,
  outcomeWord,
} from '../../api/routes/recorded-queries.ts';
import type { QueryOf } from '../../api/routes/route.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { isFailedCall } from '../../model/failed-call.ts';
import { FigureRows } from '../../model/figures.ts';
import { timeOf } from '../../model/iso-time.ts';
import type { Query, ReadQuery } from '../../model/query-language.ts';
import { scopeOf } from '../../model/rules/scope.ts';
import { inSlices } from '../../storage/files/yielding.ts';
import type { MarkedPlace, Placed, RecordLog } from '../../storage/records/record-log.ts';
import { hiding } from './hiding.ts';
import { linesOf } from './line-list-routes.ts';
import { callsIn, factsOfCall } from './outbound-list-routes.ts';
import { isGatewayKind } from './recorded-exchange.ts';
import { failureOfKind, isFailedMark, outboundCallsOfKind, outboundFailuresOfMark } from './recorded-invocation.ts';
import { type RecordedData, readQuery, recordedFacts } from './recorder-routes.ts';

/** Maximum number of records to read; counts from the index alone have no limit. */
const MAX_READ = 20_000;
/** Other tasks get a turn after so many records. */
const SOME = 256;
/** The file of a record is damaged, so it is not counted, as it is not listed. */
const DAMAGED = new Error('this record cannot be read');

/** What is known of a record without reading it. */
type Known<Facts> = { [Name in keyof Facts]?: (place: MarkedPlace) => Facts[Name] };

class Count {
  readonly rows = new FigureRows();
  /** Older records were not looked at. */
  fromMs: number | undefined;
  #read = 0;

  /** A record that has to be read. */
  read<T>(item: T | undefined): T {
    this.#read += 1;
    if (item === undefined) throw DAMAGED;
    return item;
  }

  *records<T>(ring: RecordLog<T>, { toMs }: ReadQuery<never>, add: (place: MarkedPlace) => void): Generator {
    let looked = 0;
    for (const place of ring.marks()) {
      if (++looked % SOME === 0) yield;
      if (place.beganMs > toMs) continue;
      if (this.#read >= MAX_READ) {
        this.fromMs = place.beganMs;
        return;
      }
      try {
        add(place);
      } catch (error) {
        if (error !== DAMAGED) throw error;
      }
    }
  }

  /** Does a record match? Only what is not known of it is read. */
  matcher<Facts extends object>(
    query: ReadQuery<Facts>,
    known: Known<Facts>,
    factsOf: (seq: number) => Facts | undefined,
  ) {
    let at: MarkedPlace;
    let whole: Facts | undefined;
    // As: both are asked for facts only. What is known is found first, and faster than through a handler.
    const others = new Proxy({} as Facts, {
      get: (_, name) => {
        whole ??= this.read(factsOf(at.seq));
        return whole[name as keyof Facts];
      },
    });
    const facts = Object.create(others) as Facts;
    for (const [name, tell] of Object.entries<((place: MarkedPlace) => unknown) | undefined>(known))
      if (tell) Object.defineProperty(facts, name, { get: () => tell(at) });
    return (place: MarkedPlace): boolean => {
      at = place;
      whole = undefined;
      return place.beganMs >= query.fromMs && query.matches(facts);
    };
  }
}

export function figureRouter(parts: Parts, guard: RouteGuard): Router {
  return mountRoutes(figureRoutes, guard, {
    async readFigures({ caller, query }) {
      const asking = askingOf(parts, guard, caller, query);
      const { query: read, work } = FIGURES[query.of](asking);
      await inSlices(work);
      const { rows, fromMs } = asking.count;
      const shown = rows.view(read, asking.now, query.buckets);
      return { ...shown, ...(fromMs !== undefined && { countedFrom: timeOf(fromMs) }) };
    },
  });
}

type Parts = Pick<RecordedData, 'recorder' | 'lines' | 'secrets' | 'nowMs'>;
type Grouped = 'lambdas' | 'apiendpoints';

/** What the figures of all lists need for one request. */
function askingOf(parts: Parts, guard: RouteGuard, caller: Caller, asked: QueryOf<typeof figureRoutes.readFigures>) {
  const { view } = guard;
  const count = new Count();
  const hide = hiding(parts.secrets());
  const { seesAll, sees } = visibilityFor(guard, caller);
  const isInScope = scopeOf(view, asked.scope);
  const idOf = (type: Grouped) => (type === 'lambdas' ? asked.lambda : asked.endpoint)?.toLowerCase();
  const resourcesOf = (type: Grouped) => {
    const one = idOf(type);
    return view.all(type).filter(({ id }) => (one === undefined || id === one) && sees(id) && isInScope(id));
  };
  return {
    ...parts,
    ...asked,
    q: asked.q ?? '',
    now: parts.nowMs(),
    caller,
    count,
    hide,
    resourcesOf,
    /** The groups that the caller asks for and may see; undefined: all. */
    groupsOf(ring: RecordLog<unknown>, type: Grouped) {
      if (!seesAll || asked.scope !== undefined) return new Set(resourcesOf(type).map(({ id }) => ring.groupOf(id)));
      const one = idOf(type);
      return one === undefined ? undefined : new Set([ring.groupOf(one)]);
    },
    reading:
      <Facts extends object, T>(factsOf: (placed: Placed<T>) => Facts, ring: RecordLog<T>) =>
      (seq: number) => {
        const placed = ring.at(seq);
        return placed && hide.facts(factsOf(placed));
      },
    counting<Facts extends object>(
      sent: Query<Facts>,
      ring: RecordLog<unknown>,
      adder: (query: ReadQuery<Facts>) => (place: MarkedPlace) => void,
    ) {
      const query = readQuery(sent);
      return { query, work: count.records(ring, query, adder(query)) };
    },
  };
}

type Asking = ReturnType<typeof askingOf>;

const beganMs = (place: MarkedPlace) => place.beganMs;
const durationMs = ({ tookMs }: MarkedPlace) => tookMs;

const FIGURES = {
  invocations({ recorder, q, now, count, groupsOf, reading, counting }: Asking) {
    const { invocations } = recorder;
    return counting(invocationQuery(q, now), invocations, (query) => {
      const groups = groupsOf(invocations, 'lambdas');
      const matches = count.matcher(
        query,
        {
          beganMs,
          durationMs,
          outboundCalls: ({ kind }) => outboundCallsOfKind(kind),
          outboundFailures: ({ mark }) => outboundFailuresOfMark(mark),
          outcome: ({ kind }) => ({ ok: failureOfKind(kind) === undefined, failure: failureOfKind(kind) }),
        },
        reading(recordedFacts(recorder).factsOf, invocations),
      );
      return (place) => {
        if (groups?.has(place.group) === false || !matches(place)) return;
        count.rows.add(place.seq, place, isFailedMark(place.mark) ? 'failed' : 'ok');
      };
    });
  },
  traffic({ recorder, q, now, caller, scope, endpoint, plane, count, groupsOf, reading, counting }: Asking) {
    const { exchanges, invocations } = recorder;
    return counting(exchangeQuery(q, now), exchanges, (query) => {
      const groups = groupsOf(exchanges, 'apiendpoints');
      const isOwn = ({ seq }: MarkedPlace) => count.read(exchanges.at(seq)).item.userId === caller.userId;
      const mayBeOwn = scope === undefined && endpoint === undefined;
      const failing = new Map<number, number>();
      for (const { key, mark } of invocations.marks())
        if (outboundFailuresOfMark(mark) > 0) failing.set(key, outboundFailuresOfMark(mark));
      const statusOf = ({ mark }: MarkedPlace) => mark || undefined;
      const matches = count.matcher(
        query,
        {
          beganMs,
          durationMs,
          status: statusOf,
          plane: ({ kind }) => (isGatewayKind(kind) ? 'gateway' : 'control'),
          outboundFailures: ({ key }) => failing.get(key) ?? 0,
        },
        reading(recordedFacts(recorder).requestFactsOf, exchanges),
      );
      return (place) => {
        if (plane !== undefined && isGatewayKind(place.kind) !== (plane === 'gateway')) return;
        const isSeen = !groups || groups.has(place.group) || (mayBeOwn && place.group === 0 && isOwn(place));
        if (!isSeen || !matches(place)) return;
        const state = outcomeWord({ status: statusOf(place), outboundFailures: failing.get(place.key) });
        count.rows.add(place.seq, place, state);
      };
    });
  },
  'outbound-calls'({ recorder: { invocations, bodies }, q, now, hide, count, groupsOf, counting }: Asking) {
    return counting(outboundQuery(q, now), invocations, (query) => {
      const groups = groupsOf(invocations, 'lambdas');
      return (place) => {
        if (outboundCallsOfKind(place.kind) === 0 || groups?.has(place.group) === false) return;
        for (const one of callsIn(bodies, count.read(invocations.at(place.seq)))) {
          const { call } = one;
          if (!query.matches(hide.facts(factsOfCall(bodies, one)))) continue;
          const figures = { beganMs: Date.parse(call.startedAt), tookMs: call.durationMs };
          count.rows.add(one.seq, figures, isFailedCall(call) ? 'failed' : 'ok');
        }
      };
    });
  },
  'log-lines'({ lines, recorder, q, now, count, resourcesOf, reading, counting }: Asking) {
    return counting(lineQuery(q, now), lines.ring, (query) => {
      const { byGroup, factsOf } = linesOf({ lines, recorder }, resourcesOf('lambdas'));
      const matches = count.matcher(
        query,
        {
          beganMs,
          stream: ({ kind }) => (kind === 1 ? 'stderr' : 'stdout'),
          lambdaId: ({ group }) => byGroup.get(group)?.id ?? '',
          lambdaName: ({ group }) => byGroup.get(group)?.name ?? '',
        },
        reading(factsOf, lines.ring),
      );
      return (place) => {
        if (!byGroup.has(place.group) || !matches(place)) return;
        count.rows.add(place.seq, place, place.kind === 1 ? 'failed' : 'ok');
      };
    });
  },
};
