import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { Clock } from '#shared/clock/clock.ts';

export type S3Credentials = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  /** When they end, for those that do: no link lives longer. */
  expiration?: Date;
};

export type S3ObjectStoreSettings = {
  bucket: string;
  region: string;
  /** Address of the S3 API as services reach it; absent: AWS. */
  endpoint?: string;
  /** Address in links, if clients reach the store under another one: the signature covers the host name. */
  publicEndpoint?: string;
  /** Bucket in the path instead of the host name, as most stores other than AWS need it. */
  forcePathStyle?: boolean;
  /** Absent: the SDK's own chain (environment, web identity, instance). */
  credentials?: S3Credentials | (() => Promise<S3Credentials>);
  maxLinkLifetimeSeconds: number;
  /** How long the store may take to answer; uploads get more by their size. 10 seconds by default. */
  timeoutMs?: number;
  clock?: Clock;
};

export const defaultTimeoutMs = 10_000;

/** Settings of an SDK client for the store under the given address. */
export function s3ClientConfig(settings: S3ObjectStoreSettings, endpoint: string | undefined): S3ClientConfig {
  return {
    region: settings.region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(settings.credentials === undefined ? {} : { credentials: settings.credentials }),
    forcePathStyle: settings.forcePathStyle ?? false,
    // What the SDK adds by itself, stores other than AWS refuse in part; we send the checksums that we want.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: Math.min(2000, settings.timeoutMs ?? defaultTimeoutMs) },
  };
}
