import type { Table } from '../check-table.ts'

const executions = 'services/console/src/executions/executions.live.test.ts'
const acceptedAnswer = 'services/gateway/src/request/accepted-answer.live.test.ts'
const readInvocation = 'services/gateway/src/request/read-invocation.test.ts'
const assets = 'services/gateway/src/routes/v1/assets.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const startVariants = 'services/ledger/src/executions/start/start-variants.live.test.ts'

export const invoking = {
  '4.3/s1': {
    says: 'Headers: `Authorization`; `Idempotency-Key` required, 8 to 128 characters; `Accept` optional (`application/json`, or `application/x-ndjson` for progress); optional project selector (4.5).',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › by its headers and its body [idempotency_key_required, idempotency_key_invalid, invalid_json, invalid_request, request_too_large, method_not_allowed]',
      ],
      [
        readInvocation,
        'reading an invocation › needs an idempotency key, before the body is looked at [idempotency_key_required, idempotency_key_invalid]',
      ],
      [acceptedAnswer, 'progress is for a client that prefers it'],
      [acceptedAnswer, 'anything else gets the record, and nobody 406'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › naming another project, by each of the three variants [project_mismatch]',
      ],
      [
        invoke,
        'what is refused begins no execution and charges nothing › by a key that is none, is bound to nothing or was revoked [key_missing, key_invalid, key_unbound, key_revoked]',
      ],
    ],
  },
  '4.3/s2': {
    says: 'Body: `input` (object matching the contract; required) and `revision` (integer, optional).',
    provedBy: [
      [
        readInvocation,
        'reading an invocation › reads the input, the revision that is named, its ceiling, and whose project it is',
      ],
      [readInvocation, 'reading an invocation › refuses %s [invalid_json, invalid_request]', "'no input'"],
      [invoke, 'an invocation › may name the active revision'],
    ],
  },
  '4.3/s3': {
    says: 'Rules:',
    because: 'introduces what follows it',
  },
  '4.3/s4': {
    says: "The sandbox product must belong to the key's bound project.",
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of another project like of none, byte for byte [sandbox_not_found]',
      ],
    ],
  },
  '4.3/s5': {
    says: "Another project's product gives 404.",
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of another project like of none, byte for byte [sandbox_not_found]',
      ],
    ],
  },
  '4.3/s6': {
    says: 'A selector naming a different project gives 403 `project_mismatch`.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › naming another project, by each of the three variants [project_mismatch]',
      ],
    ],
  },
  '4.3/s7': {
    says: 'Repeating an idempotency key replays the same run and its charges once.',
    provedBy: [
      [
        invoke,
        'a repeat under the same idempotency key › is the same execution, charged once, whatever it is answered with',
      ],
      [startVariants, 'an idempotency key › used by 100 at once on two replicas begins one execution'],
    ],
  },
  '4.3/s8': {
    says: 'Only the actively deployed revision runs externally.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of a revision that is not active, of a flow that is suspended, and of one that never was [revision_not_active]',
      ],
    ],
  },
  '4.3/s9': {
    says: 'Naming any other gives 409 `revision_not_active`.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of a revision that is not active, of a flow that is suspended, and of one that never was [revision_not_active]',
      ],
    ],
  },
  '4.3/s10': {
    says: 'Omit `revision` to use the active one.',
    provedBy: [
      [
        invoke,
        'a repeat under the same idempotency key › is the same execution after another revision was activated, and a new key executes that one',
      ],
      [
        readInvocation,
        'reading an invocation › reads the input, the revision that is named, its ceiling, and whose project it is',
      ],
    ],
  },
  '4.3/s11': {
    says: 'Input type violations (including select values outside the enum) give 422 `input_type` before any charge.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › with an input of the wrong type or a choice that there is not [input_type]',
      ],
    ],
  },
  '4.3/s12': {
    says: 'Response: the execution record (2.4), including for a `Failed` run.',
    provedBy: [
      [
        invoke,
        'an invocation › is answered with the record of its execution, which is named in a header and can be read again',
      ],
      [invoke, 'an invocation › whose execution fails is answered with it, and with what it was charged'],
    ],
  },
  '4.3/s13': {
    says: "Image shortcut: when the caller is a plain bearer call that negotiates no content type, the run succeeded, and the single output value is a stored image, the response is the image itself with the asset's MIME type, `Cache-Control: private, no-store`, `X-Content-Type-Options: nosniff`, and byte-range support.",
    provedBy: [
      [assets, 'an execution whose output is one image › is answered with the image where no content type is named'],
      [
        assets,
        'an execution whose output is one image › is answered with a part of it, or told that there is none [range_not_satisfiable]',
      ],
    ],
  },
  '4.3/s14': {
    says: 'Every other case (explicit `Accept: application/json`, an NDJSON run, a console execute, a failed run, an output that is not exactly one image) returns the execution record.',
    provedBy: [
      [
        assets,
        'an execution whose output is one image › is answered with its record where a content type is named, and with its lines where those are',
      ],
      [assets, 'an execution whose output is one image › is the only one that is not answered with its record'],
      [
        assets,
        'an execution whose output is one image › is answered with its record where it failed [provider_failed]',
      ],
      [
        executions,
        'any revision without problems runs, also of one that is suspended; an image is answered as a record too',
      ],
    ],
  },
  '4.3/s15': {
    says: 'No second charge happens either way.',
    provedBy: [[assets, 'an execution whose output is one image › is charged once, whichever way it is answered']],
  },
  '4.3/s16': {
    says: 'NDJSON: see section 6.',
    because: 'refers to section 6',
  },
} satisfies Table
