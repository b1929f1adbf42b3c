import { createPrivateKey, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { reasonOf } from '../model/errors.ts';
import { readWholeFile } from '../storage/files/read-file.ts';
import { lazy } from '../system/lazy.ts';
import { writeWhole } from '../system/write-whole.ts';

/** A TLS key pair in PEM. The certificate is self-signed, so clients must trust the certificate itself. */
export interface Certificate {
  keyPem: string;
  certPem: string;
}

interface CertificateOptions {
  /** Data folder, which must exist; absent: nothing is written, and each call makes a new certificate. */
  dir?: string;
  /** Clock of the programs that check it, epoch milliseconds. */
  nowMs(): number;
  /** Throws while nothing in the folder may be changed. */
  check(): void;
  /** Called when a damaged file on disk was replaced, or a file could not be written. */
  warn(message: string): void;
}

const FILE_NAME = 'crm-certificate.pem';
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 365 * DAY_MS;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** So that a client whose clock is a little behind accepts it too. */
const BACKDATE_MS = DAY_MS;
/** Delay after the end of the start, so that creating the certificate does not slow down the first request. */
const MAKE_AFTER_MS = 100;
/** PEM blocks; key and certificate share one file so that neither exists without the other. */
const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/**
 * Loads the certificate of the mocks without delaying the start: a saved one is read immediately, a new one is created on first use or
 * shortly after the start.
 */
export class LazyCertificate {
  readonly #options: CertificateOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #certificate: Certificate | undefined;
  #making: Promise<Certificate> | undefined;
  /** Rejects if no certificate can be created. One that cannot be saved is reported, and valid until the process ends. */
  readonly get = lazy(async () => {
    if (this.#certificate) return this.#certificate;
    this.#making = this.#make();
    return this.#making;
  });

  constructor(options: CertificateOptions) {
    this.#options = options;
  }

  /** Loads the saved certificate. Rejects as `keptCertificate` does. */
  async open(): Promise<void> {
    this.#certificate = await keptCertificate(this.#options);
  }

  makeSoon(): void {
    // Callers of `get` get the failure.
    this.#timer = setTimeout(() => void this.get().catch(() => {}), MAKE_AFTER_MS).unref();
  }

  /** Nothing is written after it resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#making?.catch(() => {});
  }

  async #make(): Promise<Certificate> {
    const newCertificate = await makeCertificate(this.#options.nowMs());
    if (this.#options.dir === undefined || this.#isStopped) return newCertificate;
    try {
      this.#options.check();
      const { keyPem, certPem } = newCertificate;
      await writeWhole(path.join(this.#options.dir, FILE_NAME), `${certPem}\n${keyPem}\n`);
    } catch (failure) {
      this.#options.warn(
        `the certificate of the mock CRM cannot be saved, so the next start creates another one: ${reasonOf(failure)}`,
      );
    }
    return newCertificate;
  }
}

/** The certificate in the data folder; undefined if it is missing or damaged, or expires within 30 days. */
async function keptCertificate(options: CertificateOptions): Promise<Certificate | undefined> {
  if (options.dir === undefined) return undefined;
  const file = path.join(options.dir, FILE_NAME);
  const content = await readWholeFile(file);
  if (content === undefined) return undefined;
  const storedCertificate = parseCertificate(content.toString());
  if (!storedCertificate)
    options.warn(`${file} was damaged and has been replaced. Clients that trusted the old certificate must reload it.`);
  return storedCertificate && isFresh(storedCertificate, options.nowMs()) ? storedCertificate : undefined;
}

/** Both parts of the file, or undefined unless they exist and match. */
function parseCertificate(text: string): Certificate | undefined {
  const blocks = [...text.matchAll(PEM_BLOCK)];
  const certPem = blocks.find(([, label]) => label === 'CERTIFICATE')?.[0];
  const keyPem = blocks.find(([, label]) => label === 'PRIVATE KEY')?.[0];
  if (!certPem || !keyPem) return undefined;
  try {
    return new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)) ? { certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

function isFresh({ certPem }: Certificate, nowMs: number): boolean {
  const { validFrom, validTo } = new X509Certificate(certPem);
  return Date.parse(validFrom) <= nowMs && nowMs < Date.parse(validTo) - RENEW_BEFORE_MS;
}

/** A new certificate, valid for localhost, 127.0.0.1 and ::1. */
export async function makeCertificate(nowMs: number): Promise<Certificate> {
  // Loaded only when needed: most starts find their certificate on disk.
  const { generate } = await import('selfsigned');
  const generated = await generate([{ name: 'commonName', value: 'Terrarium mock CRM' }], {
    keyType: 'ec', // finding an RSA key takes many times longer
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - BACKDATE_MS),
    notAfterDate: new Date(nowMs + LIFETIME_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { keyPem: generated.private.trim(), certPem: generated.cert.trim() };
}
