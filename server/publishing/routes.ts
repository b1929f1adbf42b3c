import type { Request, Router } from 'express';
import type { z } from 'zod';
import { type PublishingPlan, publishingRows } from '../contract/publishing.ts';
import type { BodyOf } from '../contract/row.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import { fqonOf, owningOrganization } from '../model/hierarchy.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { StoredResource } from '../model/record.ts';
import { pathOf } from '../model/resource-path.ts';
import { carrySteps } from './carry.ts';
import { type Calls, checksBeforePush } from './checks.ts';
import { groundOf, parsePlace, readGround, selected } from './ground.ts';
import { readSurroundings } from './needs.ts';
import { type Meetings, type PlannedStep, planSteps, type Side } from './plan.ts';
import { Platform } from './platform.ts';
import { digestOf } from './portable.ts';

/** What two sides held when something was last carried between them. */
export interface Meeting {
  digest: string;
}

export interface PublishingOptions {
  /** By `digestOf` of the address, the path and the environment here, and the step. */
  meetings: KeyedLog<Meeting>;
  calls: Calls;
  /** Where this platform is reached from this very machine, and every host of its own, with its port. */
  own(): { metaUrl: string; hosts: readonly string[] };
}

type Asked = BodyOf<typeof publishingRows.planPublishing>;

/** A plan, and what it is carried out with. */
interface Prepared {
  plan: PublishingPlan;
  steps: PlannedStep[];
  source: Side;
  destination: Side;
  meetings: Meetings;
}

/**
 * Carries lambdas between here and another platform. Both are spoken to as any client does, here with the caller's own credentials, so that
 * each judges by itself who may do what.
 */
export function publishingRoutes(options: PublishingOptions, gate: Gate): Router {
  return serve(publishingRows, gate, {
    planPublishing: async ({ resource, body, req }) => (await prepare(options, gate, resource, body, req)).plan,
    async carryPublishing({ resource, body: { seen, overwrite = [], ...asked }, req }) {
      const { plan, steps, ...sides } = await prepare(options, gate, resource, asked, req);
      if (plan.seen !== seen)
        throw new PlatformError(409, 'something has changed since the plan was made: look at it again');
      const unseen = plan.steps.filter(({ id, conflict }) => conflict !== undefined && !overwrite.includes(id));
      if (unseen.length > 0) {
        const sentences = unseen.map(({ id, conflict }) => `${id}: ${conflict}`);
        throw new PlatformError(
          409,
          `nothing was done, since it would overwrite what others did. ${sentences.join('; ')}`,
        );
      }
      const missing = plan.steps.flatMap((step) =>
        step.missing === undefined ? [] : [`${step.id} needs ${step.missing}`],
      );
      if (missing.length > 0) throw new PlatformError(409, `nothing was done. ${missing.join('; ')}`);
      return carrySteps({ ...sides, steps });
    },
  });
}

async function prepare(
  { meetings: log, calls, own }: PublishingOptions,
  { view }: Gate,
  environment: StoredResource,
  asked: z.output<z.ZodType<Asked>>,
  req: Request,
): Promise<Prepared> {
  const place = parsePlace(asked.path);
  const { metaUrl, hosts } = own();
  const here = new Platform(metaUrl, req.headers.authorization ?? '');
  const there = await Platform.signIn(asked.metaUrl, asked.credentials, place.fqon);
  const path = pathOf(environment, (id) => view.find(id));
  const isPush = asked.direction === 'push';
  const grounds = {
    here: await groundOf(here, fqonOf(view, owningOrganization(view, environment)), environment.id, path),
    there: await readGround(there, place),
  };
  const [from, to] = isPush ? [grounds.here, grounds.there] : [grounds.there, grounds.here];
  const source: Side = { ground: selected(from, place.selection), surroundings: await readSurroundings(from) };
  const destination: Side = { ground: to, surroundings: await readSurroundings(to) };
  const way = [there.metaUrl, place.fqon, place.workspace, place.environment, environment.id];
  const meetings: Meetings = {
    last: (step) => log.get(digestOf([...way, step]))?.digest,
    met: (step, digest) => log.put(digestOf([...way, step]), { digest }),
  };
  const { steps, left } = await planSteps({ source, destination }, meetings);
  const variablesThere = destination.surroundings.variables;
  const told = {
    from: from.title,
    to: to.title,
    steps: steps.map((step) => step.told),
    left,
    checks: isPush ? checksBeforePush(steps, { calls, ownHosts: hosts, variablesThere }) : [],
  };
  // Calls that come in meanwhile make another check, and no other plan.
  const { checks: _, ...planned } = told;
  return { plan: { ...told, seen: digestOf(planned) }, steps, source, destination, meetings };
}
