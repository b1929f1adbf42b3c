import { publicUrlOf } from '../model/types/gateway-address.ts';
import type { WorldView } from '../model/world-view.ts';

/** Where a person and a pipeline begin. */
export interface Tour {
  /** Of the web form. */
  leadUrl?: string;
  /** Of the deployment. */
  deployUrl?: string;
}

/** Public addresses of the endpoints that the demo world and the specification name. */
export function findTour(view: WorldView, gatewayUrl: string): Tour {
  const urlOfEndpoint = (path: string) => {
    const endpoint = view.all('apiendpoints').find((one) => one.properties.resource === path);
    return endpoint && publicUrlOf(view, endpoint, gatewayUrl);
  };
  const [leadUrl, deployUrl] = [urlOfEndpoint('/lead'), urlOfEndpoint('/deploy')];
  return { ...(leadUrl && { leadUrl }), ...(deployUrl && { deployUrl }) };
}
