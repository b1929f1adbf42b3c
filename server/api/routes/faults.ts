import { z } from 'zod';
import { faultRequest } from '../../model/fault-rule.ts';
import { count, named, object, strictObject, time } from '../schemas/parts.ts';
import { created, defineRoutes, json, noContent, ok, route } from './route.ts';

const faultRule = object('FaultRule', {
  id: z.string().describe('The value of the header `X-Terrarium-Fault` of responses to which the rule applied'),
  ...faultRequest.shape,
  matched: count.describe('Number of requests that matched'),
  applied: count.describe('Number of requests to which the rule applied'),
});

const clock = object('PlatformClock', {
  now: time,
  aheadMs: count.describe("Milliseconds by which the clock is ahead of the machine's"),
});

/** Fault rules of the platform's own services (D-221). */
export const faultRoutes = defineRoutes('Faults and clock', {
  listFaults: route('get /inspect/faults', 'caller', {
    summary: 'List fault rules, in the order in which they are matched',
    answer: ok(z.array(faultRule)),
  }),
  createFault: route('post /inspect/faults', 'root', {
    summary: 'Make a service of the platform fail',
    description:
      "Requests that match get an error in the service's own form, wait, or lose their connection, before the service does anything. " +
      'The first rule that applies to a request decides. Requests of the window are left alone. Rules end when they are deleted, at ' +
      'a reset, and when the platform stops.',
    body: json(named('FaultRequest', faultRequest), { service: 'scm', path: '/api/v4/*', status: 503, times: 1 }),
    answer: created(faultRule),
    errors: [409],
  }),
  deleteFaults: route('delete /inspect/faults', 'root', {
    summary: 'Delete all fault rules',
    answer: ok(object('DeletedFaults', { deleted: count })),
  }),
  deleteFault: route('delete /inspect/faults/{fault_id}', 'root', {
    summary: 'Delete a fault rule',
    answer: noContent,
  }),
});

/** The platform's clock (D-222). */
export const clockRoutes = defineRoutes('Faults and clock', {
  readClock: route('get /inspect/clock', 'caller', { summary: "Read the platform's clock", answer: ok(clock) }),
  advanceClock: route('post /inspect/clock', 'root', {
    summary: "Advance the platform's clock",
    description:
      'Moves lifetimes of tokens and sessions, rate limits, asynchronous results, periodic runs, the times of new records, and `Date` ' +
      'in lambdas. Containers, certificates, timers and timeouts keep the time of the machine. A reset and a restart end it.',
    body: json(
      strictObject('ClockRequest', {
        advance: z.string().describe('A number with s, m, h or d, or a later date and time; UTC without an offset'),
      }),
      {
        advance: '24h',
      },
    ),
    answer: ok(clock),
  }),
  resetClock: route('delete /inspect/clock', 'root', {
    summary: "Set the platform's clock to the machine's time",
    answer: noContent,
  }),
});
