import type { Table } from '../check-table.ts'

const canary = 'scenarios/canary.scenario.ts'
const keyAttacks = 'scenarios/key-attacks.scenario.ts'
const legacyKeys = 'scenarios/legacy-keys.scenario.ts'
const revocation = 'scenarios/revocation.scenario.ts'
const revokeKey = 'services/console/src/keys/revoke-key.live.test.ts'
const rotateKey = 'services/console/src/keys/rotate-key.live.test.ts'
const money = 'services/console/src/money/money.live.test.ts'
const revisions = 'services/console/src/sandboxes/revisions.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const startBatcher = 'services/ledger/src/executions/start/start-batcher.live.test.ts'

export const states = {
  '3.1/r1': {
    says: '| any | Save | always | a new revision exists | earlier revisions are never modified, so runs in progress are unaffected |',
    provedBy: [
      [revisions, 'whatever is a graph is stored with every problem, marked as a draft or not'],
      [revisions, 'a save is a revision of its own with a package, whose digest is that of its text'],
      [revisions, 'an earlier revision is never changed by a later save'],
      [invoke, 'an invocation › goes on with the revision it began with when another one is activated'],
    ],
  },
  '3.1/r2': {
    says: '| any | Save with `baseRevision` | base is stale | unchanged | 409 `revision_conflict` |',
    provedBy: [
      [
        revisions,
        'of a hundred who save on one base one wins, and the others learn what is latest [revision_conflict]',
      ],
    ],
  },
  '3.1/r3': {
    says: '| saved revision (may be a draft) | Save with `draft` marker | n/a | stored as draft | incomplete wiring is kept |',
    provedBy: [
      [revisions, 'what an author writes comes back as it was saved, whatever it holds'],
      [
        revisions,
        'activation checks again what has changed since, and leaves the active one where it fails [graph_invalid]',
      ],
    ],
  },
  '3.1/r4': {
    says: '| saved revision | Activate | whole graph re-validates, package builds, deployment succeeds | this revision is the active one | immutable package built and deployed |',
    provedBy: [
      [
        revisions,
        'activation checks again what has changed since, and leaves the active one where it fails [graph_invalid]',
      ],
      [revisions, 'a save is a revision of its own with a package, whose digest is that of its text'],
    ],
  },
  '3.1/r5': {
    says: '| saved revision | Activate | validation or deployment fails | the previously active revision stays active | nothing else changes |',
    provedBy: [
      [
        revisions,
        'activation checks again what has changed since, and leaves the active one where it fails [graph_invalid]',
      ],
      [revisions, 'a deployment that can not be written leaves everything as it was [activation_failed]'],
    ],
  },
  '3.1/r6': {
    says: '| non-active revision | external invoke naming it | n/a | unchanged | 409 `revision_not_active` |',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of a revision that is not active, of a flow that is suspended, and of one that never was [revision_not_active]',
      ],
    ],
  },
  '3.1/s1': {
    says: 'Only the active revision runs for external callers.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of a revision that is not active, of a flow that is suspended, and of one that never was [revision_not_active]',
      ],
      [startBatcher, 'the start of a run by key › runs the active revision and no other [revision_not_active]'],
    ],
  },
  '3.2/s1': {
    says: 'Execution states other than `Failed`, and transitions between execution states: not shown.',
    because: 'left open; the states are in states §1',
  },
  '3.2/s2': {
    says: 'Key lifecycle states and the transitions among them beyond creation, rotation and revocation: not shown.',
    because: 'left open; the states are in rules §6.3',
  },
  '3.2/s3': {
    says: "Known key facts: revoking a key ends its use; a lost secret means revoke and create anew; revoking the creator's grant makes the next call with their key refused; legacy unbound keys are never auto-bound nor auto-revoked and cannot be rotated.",
    provedBy: [
      [
        revocation,
        'none of ${CALLS} calls is admitted that starts after its right has ended [key_revoked] [key_issuer_denied] [model_not_found]',
      ],
      [revokeKey, 'a revoked key stays revoked [key_not_active]'],
      [money, 'every revocation that has answered binds the next call'],
      [canary, 'a secret is nowhere but in the answer that shows it once'],
      [rotateKey, 'a legacy key needs reissue and is never rotated [key_not_active]'],
      [
        keyAttacks,
        'the binding of a key › is for life: no column that says what a key may do can be changed, by the console’s role or the owner’s',
      ],
      [
        legacyKeys,
        'a legacy key stays as it is, bound to nothing and not revoked, whatever happens around it [key_unbound]',
      ],
    ],
  },
} satisfies Table
