// Expected failures of the official suite, one check each, with a reason. Only checks that need a tool of the suite's fixture server or
// a capability that this server doesn't offer are allowed; never `wire-schema-valid`.

export type Reason = string

/** The suite calls fixture tools by name; this server has only its product's tool. mcp-clients covers the same behavior. */
const FIXTURE_TOOL = 'calls a tool of the fixture server'
const NO_PROMPTS = 'needs prompts, which a server of one tool does not offer'
const NO_RESOURCES = 'needs resources, which a server of one tool does not offer'
const NO_COMPLETION = 'needs completions, which a server of one tool does not offer'
const NO_LOGGING = 'needs the logging capability, which is not offered'
const NO_SESSIONS = 'needs sessions, which a stateless server does not have'
const NO_HEADER_PARAMETER = 'needs a tool whose schema has x-mcp-header, which contracts do not have'

const both: Record<string, Reason> = {
  'completion-complete:completion-complete': NO_COMPLETION,
  'tools-call-simple-text:tools-call-simple-text': FIXTURE_TOOL,
  'tools-call-image:tools-call-image': FIXTURE_TOOL,
  'tools-call-audio:tools-call-audio': FIXTURE_TOOL,
  'tools-call-embedded-resource:tools-call-embedded-resource': FIXTURE_TOOL,
  'tools-call-mixed-content:tools-call-mixed-content': FIXTURE_TOOL,
  'tools-call-error:tools-call-error': FIXTURE_TOOL,
  'tools-call-with-progress:tools-call-with-progress': FIXTURE_TOOL,
  'resources-list:resources-list': NO_RESOURCES,
  'resources-read-text:resources-read-text': NO_RESOURCES,
  'resources-read-binary:resources-read-binary': NO_RESOURCES,
  'resources-templates-read:resources-templates-read': NO_RESOURCES,
  'prompts-list:prompts-list': NO_PROMPTS,
  'prompts-get-simple:prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args:prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource:prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image:prompts-get-with-image': NO_PROMPTS,
}

/** Expected failures as `scenario:check`, by protocol revision. */
export const baselines: Record<string, Record<string, Reason>> = {
  '2025-11-25': {
    ...both,
    'logging-set-level:logging-set-level': NO_LOGGING,
    'tools-call-with-logging:tools-call-with-logging': NO_LOGGING,
    'tools-call-sampling:tools-call-sampling': FIXTURE_TOOL,
    'tools-call-elicitation:tools-call-elicitation': FIXTURE_TOOL,
    'elicitation-sep1034-defaults:elicitation-sep1034-general': FIXTURE_TOOL,
    'elicitation-sep1330-enums:elicitation-sep1330-general': FIXTURE_TOOL,
    'resources-subscribe:resources-subscribe': NO_RESOURCES,
    'resources-unsubscribe:resources-unsubscribe': NO_RESOURCES,
    'server-sse-multiple-streams:server-sse-multiple-streams-session': NO_SESSIONS,
  },
  '2026-07-28': {
    ...both,
    'server-stateless:sep-2575-server-rejects-undeclared-capability': FIXTURE_TOOL,
    'server-stateless:sep-2575-missing-capability-http-400': FIXTURE_TOOL,
    'server-stateless:sep-2575-http-server-no-independent-requests-on-stream': FIXTURE_TOOL,
    'server-stateless:sep-2575-server-no-log-without-loglevel': FIXTURE_TOOL,
    'caching:sep-2549-prompts-list-caching-hints': NO_PROMPTS,
    'caching:sep-2549-resources-list-caching-hints': NO_RESOURCES,
    'caching:sep-2549-resources-templates-list-caching-hints': NO_RESOURCES,
    'input-required-result-basic-elicitation:sep-2322-elicitation-incomplete': FIXTURE_TOOL,
    'input-required-result-basic-sampling:sep-2322-sampling-incomplete': FIXTURE_TOOL,
    'input-required-result-basic-list-roots:sep-2322-list-roots-incomplete': FIXTURE_TOOL,
    'input-required-result-request-state:sep-2322-request-state-incomplete': FIXTURE_TOOL,
    'input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete': FIXTURE_TOOL,
    'input-required-result-multi-round:sep-2322-multi-round-r1': FIXTURE_TOOL,
    'input-required-result-non-tool-request:sep-2322-non-tool-incomplete': NO_PROMPTS,
    'input-required-result-result-type:sep-2322-result-type-included': FIXTURE_TOOL,
    'input-required-result-tampered-state:sep-2322-reject-tampered-state': FIXTURE_TOOL,
    'input-required-result-missing-input-response:sep-2322-missing-response-rerequests': FIXTURE_TOOL,
    'input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params': FIXTURE_TOOL,
    'sep-2164-resource-not-found:sep-2164-error-code': NO_RESOURCES,
    'sep-2164-resource-not-found:sep-2164-data-uri': NO_RESOURCES,
    'input-required-result-capability-check:sep-2322-respect-client-capabilities': FIXTURE_TOOL,
  },
}

/** Scenarios that need a fixture and that, according to the suite, no revision requires. */
export const notScored: Record<string, Reason> = {
  'json-schema-2020-12': FIXTURE_TOOL,
  'server-sse-polling': NO_SESSIONS,
  'http-custom-header-server-validation': NO_HEADER_PARAMETER,
}
