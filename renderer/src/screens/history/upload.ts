import { type Failure, FailureError } from '../../api/failure.ts';
import { sessionState } from '../../api/session-state.ts';
import { sessionHeaders } from '../../api/window-key.ts';

/** Time limit of the response after the upload. */
const ANSWER_TIMEOUT_MS = 10 * 60_000;

export interface UploadOptions {
  type: string;
  signal: AbortSignal;
  /** Called with the share of the file that is on the server, 0 to 1. */
  onProgress(share: number): void;
}

/** Posts a file and says how far it is, which fetch cannot. Throws FailureError. */
export function upload<T>(path: string, file: Blob, { type, signal, onProgress }: UploadOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.responseType = 'json';
    request.timeout = ANSWER_TIMEOUT_MS;
    request.setRequestHeader('Content-Type', type);
    request.setRequestHeader('X-Terrarium-Client', 'ui');
    for (const [header, value] of Object.entries(sessionHeaders())) request.setRequestHeader(header, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => total > 0 && onProgress(loaded / total));
    const fail = (kind: Failure['kind'], message: string, details: Failure['details'] = []) =>
      reject(new FailureError({ kind, code: request.status, message, details }));
    request.addEventListener('load', () => {
      // The form of the server's answers is in its OpenAPI document.
      if (request.status < 400) return resolve(request.response as T);
      if (request.status === 401) sessionState.expire();
      const { message, details } = Object(request.response);
      fail(request.status === 401 ? 'signed-out' : 'refused', message ?? `the response was ${request.status}`, details);
    });
    request.addEventListener('error', () => fail('offline', 'the server does not respond, or the file cannot be read'));
    request.addEventListener('timeout', () => fail('offline', 'the server took too long to respond'));
    request.addEventListener('abort', () => fail('refused', 'the upload was canceled; nothing was changed'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}
