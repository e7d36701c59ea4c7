/**
 * The table of the contract, by hand: a code that is added or lost has to be so on purpose. Those of
 * credentials and rate limits come with what answers them: v1 only grows.
 */
export const contractCodes: Readonly<Record<number, readonly string[]>> = {
  400: [
    'bad-request',
    'invalid-path',
    'invalid-query',
    'invalid-cursor',
    'invalid-header',
    'invalid-body',
  ],
  404: ['user-not-found', 'post-not-found', 'path-not-found'],
  405: ['method-not-allowed'],
  408: ['request-timeout'],
  409: ['email-taken', 'user-has-posts'],
  412: ['version-mismatch'],
  413: ['body-too-large'],
  414: ['uri-too-long'],
  415: ['unsupported-media-type'],
  417: ['expectation-failed'],
  422: ['invalid-record', 'idempotency-key-reused'],
  428: ['precondition-required'],
  431: ['headers-too-large'],
  500: ['internal'],
  503: ['store-unavailable', 'overloaded', 'shutting-down'],
};
