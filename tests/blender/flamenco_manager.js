// A strict stand-in of what Flamenco Manager 3 offers to job compiler scripts, as its documentation describes it: what is
// not there fails, and what a worker would refuse, fails here. Knows no job type.

const COMMANDS = {
    "blender-render": { exe: "string", exeArgs: "string?", argsBefore: "strings", blendfile: "string", args: "strings" },
    "frames-to-video": { exe: "string", exeArgs: "string?", fps: "number", inputGlob: "string", outputFile: "string", argsBefore: "strings", args: "strings" },
    "make-directory": { path: "string" },
    "move-directory": { src: "string", dest: "string" },
    "copy-file": { src: "string", dest: "string" },
    "exec": { exe: "string", args: "strings" },
    "echo": { message: "string" },
    "sleep": { duration_in_seconds: "number" },
};
const TASK_TYPES = ["blender", "ffmpeg", "file-management", "misc"];

function fail(message) {
    throw new Error(`stand-in: ${message}`);
}

function isOfKind(value, kind) {
    if (kind === "strings") {
        return Array.isArray(value) && value.every((item) => typeof item === "string");
    }
    return typeof value === kind;
}

class Command {
    constructor(name, parameters) {
        const known = COMMANDS[name] || fail(`no command is called "${name}"`);
        for (const key of Object.keys(parameters)) {
            known[key] || fail(`${name} has no parameter "${key}"`);
        }
        for (const key of Object.keys(known)) {
            const kind = known[key].replace("?", "");
            const isMissing = !(key in parameters);
            if (isMissing ? !known[key].endsWith("?") : !isOfKind(parameters[key], kind)) {
                fail(`${name}: parameter "${key}" must be given as ${kind}`);
            }
        }
        this.name = name;
        this.parameters = parameters;
    }
}

class Task {
    constructor(name, type) {
        if (typeof name !== "string" || !name.trim()) {
            fail("a task needs a name");
        }
        TASK_TYPES.indexOf(type) >= 0 || fail(`by default no worker takes tasks of the type "${type}"`);
        this.name = name;
        this.type = type;
        this.commands = [];
        this.dependencies = [];
    }
    addCommand(command) {
        command instanceof Command || fail("addCommand() takes what author.Command() made");
        this.commands.push(command);
    }
    addDependency(task) {
        task instanceof Task || fail("addDependency() takes what author.Task() made");
        this.dependencies.push(task.name);
    }
}

class Job {
    constructor(name, settings) {
        this.name = name;
        this.settings = settings;
        this.created = new Date(2026, 0, 2, 3, 4, 5);
        this.tasks = [];
    }
    addTask(task) {
        task instanceof Task || fail("addTask() takes what author.Task() made");
        task.commands.length || fail(`task "${task.name}" has no command`);
        // what is added to a task later is lost, as it is there
        this.tasks.push(JSON.parse(JSON.stringify(task)));
    }
}

const author = Object.freeze({
    Task: (name, type) => new Task(name, type),
    Command: (name, parameters) => new Command(name, parameters),
});

function formatTimestampLocal(timestamp) {
    timestamp instanceof Date || fail("formatTimestampLocal() takes a time, such as job.created");
    return "2026-01-02_030405";
}

// "1-4, 7" in chunks of 3: "1-3", "4,7". Frames below 0 are not known there.
function frameChunker(range, size) {
    if (typeof range !== "string" || !range.trim() || !Number.isInteger(size) || size < 1) {
        fail(`frameChunker(${range}, ${size}) makes no sense`);
    }
    const frames = new Set();
    for (const part of range.replace(/\.\./g, "-").split(",")) {
        const ends = part.split("-").map((text) => (/^\s*\d+\s*$/.test(text) ? parseInt(text, 10) : fail(`invalid range "${range}"`)));
        ends.length <= 2 || fail(`invalid range "${range}"`);
        for (let frame = ends[0]; frame <= ends[ends.length - 1]; frame++) {
            frames.add(frame);
        }
    }
    const sorted = Array.from(frames).sort((a, b) => a - b);
    const chunks = [];
    for (let start = 0; start < sorted.length; start += size) {
        chunks.push(merged(sorted.slice(start, start + size)));
    }
    return chunks;
}

function merged(frames) {
    const runs = [];
    for (const frame of frames) {
        const last = runs[runs.length - 1];
        if (last && last[1] === frame - 1) {
            last[1] = frame;
        } else {
            runs.push([frame, frame]);
        }
    }
    return runs.map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a},${b}` : `${a}-${b}`)).join(",");
}

// What the test calls.
function jobType() {
    return JSON.stringify(JOB_TYPE);
}

function compiled(name, settings) {
    const job = new Job(name, JSON.parse(settings));
    compileJob(job);
    const names = job.tasks.map((task) => task.name);
    new Set(names).size === names.length || fail("two tasks have one name");
    for (const task of job.tasks) {
        for (const other of task.dependencies) {
            names.indexOf(other) >= 0 || fail(`"${task.name}" waits for "${other}", which is not in the job`);
        }
    }
    return JSON.stringify({ tasks: job.tasks, settings: job.settings });
}
