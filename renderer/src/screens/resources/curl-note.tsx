import { curlText, type ShownRequest } from '../../api/curl.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { Copy } from '../../components/copy.tsx';

/** Longer commands are not shown, but can be copied. */
const MAX_SHOWN_CHARS = 4000;

const BOX = 'mono max-h-40 overflow-auto p-3 pr-9 break-words whitespace-pre-wrap';

export function CurlNote(request: ShownRequest) {
  const baseUrl = usePlatformStatus().data?.addresses.baseUrl ?? location.origin;
  const text = curlText(request, baseUrl);
  return (
    <details className="mt-4">
      <summary className="eyebrow cursor-default py-1">As curl</summary>
      <div className="relative mt-1 rounded-md border border-line bg-panel">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
        <section aria-label="The request as curl" tabIndex={0} className={BOX}>
          {text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)} …` : text}
        </section>
        <Copy text={text} subject="the request as curl" className="absolute top-1 right-1 bg-panel" />
      </div>
    </details>
  );
}
