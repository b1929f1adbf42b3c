import type { Tour } from '../library/api.ts';
import { publicUrlOf } from '../model/types/gateway-address.ts';
import type { WorldView } from '../model/world-view.ts';

/** Public addresses of the endpoints that the demo world and the specification name. */
export function findTour(view: WorldView, gatewayUrl: string): Tour {
  const urlOfEndpoint = (path: string) => {
    const endpoint = view.all('apiendpoints').find((one) => one.properties.resource === path);
    return endpoint && publicUrlOf(view, endpoint, gatewayUrl);
  };
  const [leadUrl, deployUrl] = [urlOfEndpoint('/lead'), urlOfEndpoint('/deploy')];
  return { ...(leadUrl && { leadUrl }), ...(deployUrl && { deployUrl }) };
}
