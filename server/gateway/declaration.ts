import { type Declaration, limit, log, port } from '../plugin/declaration.ts';
import type { StoredResult } from './async-results.ts';

export const gateway = {
  settings: { gatewayPort: port(4701, 'port of {gateway_url}: public endpoints of lambdas and containers') },
  limits: {
    resultsPerLambda: limit(1000, 'maximum number of asynchronous results of each lambda'),
    resultLifetimeS: limit(24 * 60 * 60, 'seconds to keep an asynchronous result'),
  },
  listener: { title: 'gateway', noun: 'gateway' },
  logs: { results: log<StoredResult>({ part: 'results', archive: 'export' }) },
} satisfies Declaration;
