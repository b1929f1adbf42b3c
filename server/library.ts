import { invokeRows } from './contract/logs.ts';
import { jsonBody } from './contract/row-client.ts';
import { type EmbeddedEmulator, startEmulator as startPlatform } from './emulator.ts';
import type { Invocation, StartEmulator, Terrarium, TerrariumOptions } from './library/api.ts';
import { Client } from './library/client.ts';
import { deploy } from './library/deploy.ts';
import { coded } from './library/failure.ts';
import { findLambda } from './library/find-lambda.ts';
import { invocationsOf } from './library/invocations.ts';
import { leadsOf } from './library/leads.ts';

/** The library as it is shipped (server/library/api.ts says what it promises). */
export const startEmulator: StartEmulator = async (options = {}, { onWarning, onFault } = {}) => {
  const { seed, ...settings } = options;
  const given = typeof seed === 'object' ? { seed: 'empty' } : seed === undefined ? {} : { seed };
  const hooks = {
    ...(typeof seed === 'object' && { seed }),
    ...(onWarning && { onWarning }),
    ...(onFault && { onFault }),
  };
  const emulator = await coded(() => startPlatform({ ...settings, ...given }, hooks));
  return terrarium(emulator, options);
};

function terrarium(emulator: EmbeddedEmulator, { rootApiSecret = '' }: TerrariumOptions): Terrarium {
  const { testService, stop: _, ...facts } = emulator;
  const { apiKey, apiSecret = rootApiSecret } = emulator.rootCredentials;
  const client = new Client(emulator.baseUrl, { key: apiKey, secret: apiSecret });
  /** Place of the newest invocation that was before the last reset. */
  let before = 0;
  const stop = () => {
    client.stop();
    return emulator.stop();
  };
  return {
    ...facts,
    async reset() {
      before = await coded(() => testService.reset());
    },
    token: (username = 'root') => coded(() => testService.token(username)),
    apiKey: (username = 'root') => coded(() => testService.apiKey(username)),
    deploy: (lambda, source) => deploy(client, lambda, source),
    async invoke(named, event): Promise<Invocation> {
      const id = await findLambda(client, named);
      return client.ask(invokeRows.invokeLambda, {
        path: { lambda_id: id },
        ...(event !== undefined && jsonBody(event)),
      });
    },
    leads: leadsOf(client),
    invocations: invocationsOf(client, () => before),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
