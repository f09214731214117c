/**
 * Several that know contents as one: the answer is that of the first who knows. Of a URL it is the newest of all, and of a
 * digest one in the framing that is asked for, if anybody has one.
 */
import type { Certainty, KnownCapture, KnownContents, KnownQuestion } from "./known-contents.ts";

type Answer = KnownCapture | undefined;

const ALONE = [0] as const;

export class JoinedContents implements KnownContents {
  readonly answers: ReadonlySet<KnownQuestion["by"]>;
  private readonly members: readonly KnownContents[];
  /** Who gave an answer is who can prove it. */
  private readonly givers = new WeakMap<KnownCapture, KnownContents>();

  /** Asked in this order. */
  constructor(members: readonly KnownContents[]) {
    this.members = members;
    this.answers = new Set(members.flatMap(({ answers }) => [...answers]));
  }

  /** At once, as long as those that are asked answer at once. */
  find(questions: readonly KnownQuestion[]): readonly Answer[] | Promise<readonly Answer[]> {
    const answers = new Array<Answer>(questions.length).fill(undefined);
    return questions.length === 1 ? this.findOne(questions, answers) : this.findFrom(0, questions, answers);
  }

  /** Most questions come alone. */
  private findOne(
    questions: readonly KnownQuestion[],
    answers: Answer[],
  ): readonly Answer[] | Promise<readonly Answer[]> {
    const { by } = questions[0]!;
    for (const [i, member] of this.members.entries()) {
      if (!member.answers.has(by) || !isOpen(questions[0]!, answers[0])) continue;
      const found = member.find(questions);
      if (found instanceof Promise) {
        return found.then((late) => {
          this.take(member, ALONE, late, questions, answers);
          return this.findFrom(i + 1, questions, answers);
        });
      }
      this.take(member, ALONE, found, questions, answers);
    }
    return answers;
  }

  private findFrom(
    first: number,
    questions: readonly KnownQuestion[],
    answers: Answer[],
  ): readonly Answer[] | Promise<readonly Answer[]> {
    for (let i = first; i < this.members.length; i++) {
      const member = this.members[i]!;
      const open = questions.flatMap((question, at) =>
        member.answers.has(question.by) && isOpen(question, answers[at]) ? [at] : [],
      );
      if (open.length === 0) continue;
      const found = member.find(open.map((at) => questions[at]!));
      if (found instanceof Promise) {
        return found.then((late) => {
          this.take(member, open, late, questions, answers);
          return this.findFrom(i + 1, questions, answers);
        });
      }
      this.take(member, open, found, questions, answers);
    }
    return answers;
  }

  private take(
    member: KnownContents,
    open: readonly number[],
    found: readonly Answer[],
    questions: readonly KnownQuestion[],
    answers: Answer[],
  ): void {
    for (const [i, at] of open.entries()) {
      const answer = found[i];
      if (answer === undefined || !isBetter(questions[at]!, answer, answers[at])) continue;
      answers[at] = answer;
      this.givers.set(answer, member);
    }
  }

  prove(known: KnownCapture): Certainty | undefined | Promise<Certainty | undefined> {
    const giver = this.givers.get(known);
    return giver === undefined ? known.certainty : giver.prove(known);
  }
}

/** Whether another one may have a better answer. */
function isOpen(question: KnownQuestion, answer: Answer): boolean {
  return answer === undefined || question.by === "url" || !hasFraming(question, answer);
}

function isBetter(question: KnownQuestion, answer: KnownCapture, before: Answer): boolean {
  if (before === undefined) return true;
  return question.by === "url" ? answer.timeMs > before.timeMs : hasFraming(question, answer);
}

function hasFraming(question: KnownQuestion, { framing = "plain" }: KnownCapture): boolean {
  return question.by !== "digest" || question.framing === undefined || framing === question.framing;
}
