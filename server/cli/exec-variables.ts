import type { Config } from '../config-schema.ts';
import type { Emulator } from '../emulator.ts';
import { targetVariables } from '../pipelines/target.ts';
import { PlatformClient } from './platform-client.ts';
import { issueToken } from './token-command.ts';

/** What a command that runs against a platform finds in its environment: where it is and how to sign in, as a CI job expects it, too. */
export async function platformVariables(emulator: Emulator, config: Config): Promise<Record<string, string>> {
  const { rootCredentials: root, tour } = emulator;
  const pair = { key: root.apiKey, secret: root.apiSecret ?? config.rootApiSecret ?? '' };
  const client = new PlatformClient(emulator.baseUrl, () => pair);
  const token = await issueToken(client, 'root');
  return {
    TERRARIUM_BASE_URL: emulator.baseUrl,
    TERRARIUM_META_URL: emulator.metaUrl,
    TERRARIUM_SECURITY_URL: emulator.securityUrl,
    TERRARIUM_GATEWAY_URL: emulator.gatewayUrl,
    TERRARIUM_CRM_URL: emulator.crmUrl,
    TERRARIUM_API_KEY: pair.key,
    TERRARIUM_API_SECRET: pair.secret,
    TERRARIUM_TOKEN: token.access_token,
    PLATFORM_API_KEY: pair.key,
    PLATFORM_API_SECRET: pair.secret,
    SCM_API_URL: `${emulator.scmUrl}/api/v4/projects`,
    SCM_TOKEN: emulator.scmToken,
    ...(tour?.deployUrl && { PLATFORM_DEPLOY_URL: tour.deployUrl }),
    ...(await targetOf(client)),
  };
}

/** Where a pipeline would deploy to in the demo world; nothing in a world without it. */
async function targetOf(client: PlatformClient): Promise<Record<string, string>> {
  try {
    return await targetVariables(client, { org: 'demo', environment: undefined, api: undefined });
  } catch {
    return {};
  }
}
