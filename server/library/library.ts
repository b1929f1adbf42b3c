import { jsonBody } from '../api/client/route-client.ts';
import { invokeRoutes } from '../api/routes/logs.ts';
import { type EmbeddedEmulator, startEmulator as startPlatform } from '../platform/emulator.ts';
import type { Invocation, StartEmulator, Terrarium, TerrariumOptions } from './api.ts';
import { Client, findLambda } from './client.ts';
import { deploy } from './deploy.ts';
import { coded } from './failure.ts';
import { invocationsOf } from './invocations.ts';
import { leadsOf } from './leads.ts';
import { outboundOf } from './outbound.ts';

export const startEmulator: StartEmulator = async (options = {}, { onWarning, onFault } = {}) => {
  const { seed, ...settings } = options;
  const seedSetting = typeof seed === 'object' ? { seed: 'empty' } : seed === undefined ? {} : { seed };
  const hooks = {
    ...(typeof seed === 'object' && { seed }),
    ...(onWarning && { onWarning }),
    ...(onFault && { onFault }),
  };
  const emulator = await coded(() => startPlatform({ ...settings, ...seedSetting }, hooks));
  return terrarium(emulator, options);
};

function terrarium(emulator: EmbeddedEmulator, { rootApiSecret = '' }: TerrariumOptions): Terrarium {
  const { testService, stop: _, ...facts } = emulator;
  const { apiKey, apiSecret = rootApiSecret } = emulator.rootCredentials;
  const client = new Client(emulator.baseUrl, { key: apiKey, secret: apiSecret });
  /** Position of the newest invocation before the last reset. */
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
      return client.ask(invokeRoutes.invokeLambda, {
        path: { lambda_id: id },
        ...(event !== undefined && jsonBody(event)),
      });
    },
    leads: leadsOf(client),
    outbound: outboundOf(client),
    invocations: invocationsOf(client, () => before),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
