import type { RecordedBody } from '../api/use-traffic.ts';
import { bytesText } from './amounts.ts';
import { JsonView } from './json-view.tsx';

export function HttpMessage({
  subject,
  headers,
  body,
}: {
  subject: string;
  headers: readonly (readonly [string, string])[];
  body: RecordedBody | undefined;
}) {
  return (
    <>
      <table className="m-4 w-[calc(100%-32px)] table-fixed text-small">
        <caption className="sr-only">Headers of the {subject}</caption>
        <colgroup>
          <col className="w-[190px]" />
          <col />
        </colgroup>
        <tbody>
          {headers.map(([name, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a message that was sent does not change
            <tr key={index} className="align-top">
              <th scope="row" className="mono truncate py-0.5 pr-3 text-left font-normal text-muted">
                {name}
              </th>
              <td className="mono py-0.5 break-all">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!body?.sizeBytes && hasBody(headers) ? (
        <p className="px-4 pb-3 text-muted">The body was not read.</p>
      ) : (
        <BodyView body={body} subject={`body of the ${subject}`} />
      )}
    </>
  );
}

/** Returns true if the headers announce a body. A body that the server rejects early is not read. */
function hasBody(headers: readonly (readonly [string, string])[]): boolean {
  return headers.some(([name, value]) => /^content-length$/i.test(name) && Number(value) > 0);
}

export function BodyView({ body, subject }: { body: RecordedBody | undefined; subject: string }) {
  if (!body || body.sizeBytes === 0) return <p className="px-4 pb-3 text-muted">No body.</p>;
  const bodyText = body.text ?? body.base64 ?? '';
  return (
    <div className="border-t border-line/60">
      <p className="px-4 pt-2 text-small text-faint">
        {bytesText(body.sizeBytes)}
        {body.isCut && ', only the beginning was kept'}
        {body.base64 !== undefined && ', not text: shown as base64'}
      </p>
      {bodyText !== '' && <JsonView value={bodyText} subject={subject} />}
    </div>
  );
}
