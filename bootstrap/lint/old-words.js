// Words that the project has left, and the one that stands for each. One word per thing and one thing per word, the field's:
// whoever arrives searches for what they know. bootstrap/words.js looks for them in code, comments, SQL and docs.

/** Parts of identifiers and words of sentences, whatever their case; `originUrl` has the part `origin`. */
const parts = [
  [['origin', 'origins'], 'provider', { only: 'the header, and the address of a page' }],
  [['holder', 'holders', 'hld'], 'instance'],
  [['house', 'houses', 'constellation', 'constellations'], 'stack, or write-off'],
  [['keeper', 'keepers'], 'maintenance job'],
  [['stranger', 'strangers'], 'unidentified key'],
  [['bell', 'bells', 'rung', 'unrung', 'ringing'], 'notifier, notify, enqueued'],
  [['shelf', 'shelves', 'spool', 'spools'], 'blob backend, temporary file'],
  [['lane', 'lanes', 'gatherer', 'parcel', 'parcels'], 'batcher, pending item'],
  [['standing', 'standings'], 'status, roles'],
  [['cure', 'cures', 'cured'], 'resolution'],
  [['measures'], 'metrics, or prompt size'],
  [['beat', 'beats', 'beating'], 'heartbeat'],
  [['gate', 'gates'], 'authorize'],
  [['rights'], 'permissions'],
  [['shop', 'shops', 'town', 'weather', 'crowded', 'studio'], 'fixture, tenant, faults, load'],
  [['road', 'roads'], 'path, variant'],
]

/** Said of code alone: names that are ordinary words in a sentence. */
const names = [
  [/\bNeeds\b(?! reissue)/, 'Deps'],
  [/\b(world|World|crowd|Crowd|CROWD)\b|[a-z]World\b|[a-z]Crowd\b/, 'fixture, load'],
  [/\b(open)?Places?\b|\bin-?[pP]lace\(/, 'concurrency limiter, slot'],
  [/\bwaitingRoom\b|\bWaitingRoom\b|waiting-room/, 'admission queue limit'],
  [/\bHold\b|\bHoldCall\b|\bcallHolder\b|\bopenHolds\b|\bholds_/, 'reservation'],
  [/\bEar\b|\bopenEar\b|\bear\b/, 'waiter'],
  [/\bwithin\(/, 'withTimeout, withSpan'],
  [/\bopen?Reader\(res\b|\binterface Reader\b/, 'response stream'],
  [/\b(recollection|presumed|guessed|recall|lend|lent)\b|Recollection/, 'cache, assumed, lease'],
  [/\b[rR]unMemory\b|\bKnownProjects\b|\bknownProjects\b/, 'cache'],
  [/\bways\b|\bWays\b/, 'variants, methods'],
  [/\b(fewAtOnce|few-at-once)\b/, 'semaphore'],
]

/** Said of sentences: comments, docs and what is written for people. */
const phrases = [
  [
    /\b(?:(?:an?|the|its|each|every|this|that|another|any|one|such an?) run|(?:the|its|whose|their|all|many|of) runs)\b(?! (on|in|through|by|at|the|once|of `?npm|of the (bench|check|test|suite))\b)/i,
    'execution',
  ],
  [/\bruns of (a |the )?(flow|sandbox|key|project)/i, 'executions'],
  [
    /\b(an?|the|its|each|every|no|open|other) holds?\b(?! (a|an|the|it|its|what|for|of|that|no|this|in|to|one|at|true|and|only|while|several|nothing|up|as)\b)/i,
    'reservation',
  ],
  [/\bwaiting room\b/i, 'admission queue limit'],
  [/\b(he|his|him)\b/i, 'they, their, them'],
  [/\bthe origin\b/i, 'the provider'],
]

export const oldWords = {
  parts: new Map(parts.flatMap(([words, say]) => words.map((word) => [word, say]))),
  names,
  phrases,
}

/** Where an old word is the right one, and why. */
export const exceptions = [
  [/^bootstrap\/lint\/old-words\.js$|^bootstrap\/words(\.test)?\.[jt]s$/, /./, 'they name the old words'],
  [
    /./,
    /same-origin|cross-origin|allow-origin|(location|url|headers)\.origin\b|\boriginal\w*|targetOrigin|target-origin|\(new URL\(.*\.origin|session_replication_role = origin|@scarf\S*/i,
    'the address of a page, the header, other words',
  ],
  [
    /foreign-pages|dns-rebinding|refuse-strangers|header-proxy|mcp-(http|docs)\.scenario|canary\.scenario|0005-|0007-|docs\/mcp\.md|ledger-client\.ts|http-adapter|field-problem|stock-clients/,
    /[oO]rigins?/,
    'the header Origin, and what URL calls so',
  ],
  [/local-stack\/|postgres-data/, /holders?|holdFolder|holdDataFolder/, 'who has a folder or a port'],
  [/^docs\/specification\.md$/, /./, 'the words of the specification'],
  [/./, /docs\/openapi\.json|pnpm-lock\.yaml/, 'made'],
]
