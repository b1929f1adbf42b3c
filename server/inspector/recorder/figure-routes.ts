import type { Router } from 'express';
import { figureRoutes } from '../../api/routes/recorded.ts';
import {
  exchangeQuery,
  formQuery,
  invocationQuery,
  lineQuery,
  outboundQuery,
  outcomeWord,
} from '../../api/routes/recorded-queries.ts';
import type { QueryOf } from '../../api/routes/route.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Caller } from '../../model/caller.ts';
import { isFailedCall } from '../../model/failed-call.ts';
import { FigureRows, type FigureState } from '../../model/figures.ts';
import { timeOf } from '../../model/iso-time.ts';
import type { Query, ReadQuery } from '../../model/query-language.ts';
import type { MarkedPlace, Placed, RecordLog } from '../../storage/records/record-log.ts';
import { hiddenFacts } from './form-routes.ts';
import { isGatewayKind } from './recorded-exchange.ts';
import { failureOfKind, isFailedMark, outboundCallsOfKind, outboundFailuresOfMark } from './recorded-invocation.ts';
import { callsIn, factsOfCall, linesOf } from './recorded-part-routes.ts';
import { type RecordedData, readingFor, readQuery, recordedFacts } from './recorder-routes.ts';
import type { SentForms } from './sent-forms.ts';

/** Maximum number of records to read; counts from the index alone have no limit. */
const MAX_READ = 20_000;
/** The file of a record is damaged, so it is not counted, as it is not listed. */
const DAMAGED = new Error('this record cannot be read');

/** Facts of a record that are known without reading it. */
type IndexedFacts<Facts> = { [Name in keyof Facts]?: (entry: MarkedPlace) => Facts[Name] };

/** A list that is counted: its records, what is searched of them, and how each counts. */
interface Counted<T, Facts> {
  log: RecordLog<T>;
  searchQuery: Query<Facts>;
  indexedFacts: IndexedFacts<Facts>;
  isAsked(entry: MarkedPlace): boolean;
  factsOf(placed: Placed<T>): Facts;
  stateOf(entry: MarkedPlace): FigureState;
}

class Count {
  readonly rows = new FigureRows();
  /** Older records were not looked at. */
  fromMs: number | undefined;
  readonly #hide: ReturnType<typeof readingFor>['hide'];
  #read = 0;

  constructor(hide: ReturnType<typeof readingFor>['hide']) {
    this.#hide = hide;
  }

  /** A record that has to be read. */
  read<T>(log: RecordLog<T>, { seq }: MarkedPlace): Placed<T> {
    this.#read += 1;
    const placed = log.at(seq);
    if (!placed) throw DAMAGED;
    return placed;
  }

  records(log: RecordLog<unknown>, { toMs }: ReadQuery<never>, add: (entry: MarkedPlace) => void): void {
    for (const entry of log.marks()) {
      if (entry.beganMs > toMs) continue;
      if (this.#read >= MAX_READ) {
        this.fromMs = entry.beganMs;
        return;
      }
      try {
        add(entry);
      } catch (error) {
        if (error !== DAMAGED) throw error;
      }
    }
  }

  /** Counts the records of a list that match; only what is not known of one is read. */
  list<T, Facts extends object>({ log, searchQuery, indexedFacts, isAsked, factsOf, stateOf }: Counted<T, Facts>) {
    const query = readQuery(searchQuery);
    let at: MarkedPlace;
    let readFacts: Facts | undefined;
    // As: both are asked for facts only. What is known is found first, and faster than through a handler.
    const lazyFacts = new Proxy({} as Facts, {
      get: (_, name) => {
        readFacts ??= this.#hide.facts(factsOf(this.read(log, at)));
        return readFacts[name as keyof Facts];
      },
    });
    const facts = Object.create(lazyFacts) as Facts;
    for (const [name, readFact] of Object.entries<((entry: MarkedPlace) => unknown) | undefined>(indexedFacts))
      if (readFact) Object.defineProperty(facts, name, { get: () => readFact(at) });
    this.records(log, query, (entry) => {
      at = entry;
      readFacts = undefined;
      if (entry.beganMs < query.fromMs || !isAsked(entry) || !query.matches(facts)) return;
      this.rows.add(entry.seq, entry, stateOf(entry));
    });
    return query;
  }
}

export function figureRouter(data: RecordedData & { forms: SentForms }, guard: RouteGuard): Router {
  return mountRoutes(figureRoutes, guard, {
    readFigures({ caller, query }) {
      const asking = askingOf(data, guard, caller, query);
      const read = FIGURES[query.of](asking);
      const { rows, fromMs } = asking.count;
      const figures = rows.view(read, asking.now, query.buckets);
      return { ...figures, ...(fromMs !== undefined && { countedFrom: timeOf(fromMs) }) };
    },
  });
}

/** Returns the data that the figures of all lists need for one request. */
function askingOf(
  data: RecordedData & { forms: SentForms },
  guard: RouteGuard,
  caller: Caller,
  query: QueryOf<typeof figureRoutes.readFigures>,
) {
  const { of: listName, scope, q = '' } = query;
  const [type, onlyId] =
    listName === 'traffic' ? (['apiendpoints', query.endpoint] as const) : (['lambdas', query.lambda] as const);
  const { hide, seesAll, isWanted } = readingFor(data, guard, caller, { scope, onlyId });
  const matchingResources = () => guard.view.all(type).filter(({ id }) => isWanted(id));
  return {
    ...{
      ...data,
      caller,
      hide,
      q,
      wanted: matchingResources,
      isWanted,
      plane: query.plane,
      now: data.nowMs(),
      count: new Count(hide),
    },
    mayBeOwn: scope === undefined && onlyId === undefined,
    /** Is a group among those that the caller asks for and may see? */
    groupsIn(log: RecordLog<unknown>): (group: number) => boolean {
      if (seesAll && scope === undefined && onlyId === undefined) return () => true;
      const ids =
        seesAll && scope === undefined ? [onlyId?.toLowerCase() ?? ''] : matchingResources().map(({ id }) => id);
      const groups = new Set(ids.map((id) => log.groupOf(id)));
      return (group) => groups.has(group);
    },
  };
}

type Asking = ReturnType<typeof askingOf>;

const beganMs = (entry: MarkedPlace) => entry.beganMs;
const durationMs = ({ tookMs }: MarkedPlace) => tookMs;

const FIGURES = {
  invocations({ recorder, q, now, count, groupsIn }: Asking) {
    const log = recorder.invocations;
    const isInGroups = groupsIn(log);
    return count.list({
      log,
      searchQuery: invocationQuery(q, now),
      indexedFacts: {
        beganMs,
        durationMs,
        outboundCalls: ({ kind }) => outboundCallsOfKind(kind),
        outboundFailures: ({ mark }) => outboundFailuresOfMark(mark),
        outcome: ({ kind }) => ({ ok: failureOfKind(kind) === undefined, failure: failureOfKind(kind) }),
      },
      isAsked: ({ group }) => isInGroups(group),
      factsOf: recordedFacts(recorder).factsOf,
      stateOf: ({ mark }) => (isFailedMark(mark) ? 'failed' : 'ok'),
    });
  },
  traffic({ recorder, q, now, caller, mayBeOwn, plane, count, groupsIn }: Asking) {
    const log = recorder.exchanges;
    const isInGroups = groupsIn(log);
    const isOwn = (entry: MarkedPlace) => count.read(log, entry).item.userId === caller.userId;
    const failing = new Map<number, number>();
    for (const { key, mark } of recorder.invocations.marks())
      if (outboundFailuresOfMark(mark) > 0) failing.set(key, outboundFailuresOfMark(mark));
    const planeOf = ({ kind }: MarkedPlace) => (isGatewayKind(kind) ? 'gateway' : 'control');
    const statusOf = ({ mark }: MarkedPlace) => mark || undefined;
    return count.list({
      log,
      searchQuery: exchangeQuery(q, now),
      indexedFacts: {
        beganMs,
        durationMs,
        status: statusOf,
        plane: planeOf,
        outboundFailures: ({ key }) => failing.get(key) ?? 0,
      },
      isAsked: (entry) =>
        (plane === undefined || planeOf(entry) === plane) &&
        (isInGroups(entry.group) || (mayBeOwn && entry.group === 0 && isOwn(entry))),
      factsOf: recordedFacts(recorder).requestFactsOf,
      stateOf: (entry) => outcomeWord({ status: statusOf(entry), outboundFailures: failing.get(entry.key) }),
    });
  },
  forms({ forms, q, now, hide, count, isWanted }: Asking) {
    const query = readQuery(formQuery(q, now));
    let counted = 0;
    for (const { seq, beganMs, readForm } of forms.list(isWanted)) {
      if (beganMs < query.fromMs) break;
      if (beganMs > query.toMs) continue;
      if (counted === MAX_READ) {
        count.fromMs = beganMs;
        break;
      }
      counted += 1;
      const form = readForm();
      // How long a form took has no meaning: it ends in another process.
      if (form && query.matches(hiddenFacts(form, hide.value)))
        count.rows.add(seq, { beganMs, tookMs: Number.NaN }, form.state);
    }
    return query;
  },
  'outbound-calls'({ recorder: { invocations, bodies }, q, now, hide, count, groupsIn }: Asking) {
    const query = readQuery(outboundQuery(q, now));
    const isInGroups = groupsIn(invocations);
    count.records(invocations, query, (entry) => {
      if (outboundCallsOfKind(entry.kind) === 0 || !isInGroups(entry.group)) return;
      for (const placedCall of callsIn(bodies, count.read(invocations, entry))) {
        const { call } = placedCall;
        if (!query.matches(hide.facts(factsOfCall(bodies, placedCall)))) continue;
        const figures = { beganMs: Date.parse(call.startedAt), tookMs: call.durationMs };
        count.rows.add(placedCall.seq, figures, isFailedCall(call) ? 'failed' : 'ok');
      }
    });
    return query;
  },
  'log-lines'({ lines, recorder, q, now, count, wanted: findResources }: Asking) {
    const { byGroup, factsOf } = linesOf({ lines, recorder }, findResources());
    return count.list({
      log: lines.ring,
      searchQuery: lineQuery(q, now),
      indexedFacts: {
        beganMs,
        stream: ({ kind }) => (kind === 1 ? 'stderr' : 'stdout'),
        lambdaId: ({ group }) => byGroup.get(group)?.id ?? '',
        lambdaName: ({ group }) => byGroup.get(group)?.name ?? '',
      },
      isAsked: ({ group }) => byGroup.has(group),
      factsOf,
      stateOf: ({ kind }) => (kind === 1 ? 'failed' : 'ok'),
    });
  },
};
