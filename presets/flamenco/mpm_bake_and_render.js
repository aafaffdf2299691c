// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3: one worker bakes the MPM simulation of a .blend file into a shared cache folder, then
// all workers render the frames from it, in chunks. Copy this file into the folder "scripts" next to flamenco-manager.

const JOB_TYPE = {
    label: "MPM Bake and Render",
    description: "Bake the MPM simulation, then render the frames in chunks",
    settings: [
        {
            key: "frames", type: "string", required: true,
            eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
            evalInfo: { showLinkButton: true, description: "Scene frame range" },
            description: "Frames to render, such as '1-48' or '3, 5-10, 47'; the bake covers the scene's own frame range",
        },
        {
            key: "chunk_size", type: "int32", default: 10, propargs: { min: 1 }, visible: "submission",
            description: "Frames per render task",
        },
        {
            key: "cache", type: "string", subtype: "dir_path", required: true,
            eval: "bpy.path.abspath(C.scene.mpm.cache)",
            evalInfo: { showLinkButton: true, description: "Cache folder of the scene" },
            description: "Folder for the baked frames, on a disk that all workers share; existing frames are not baked again",
        },
        {
            key: "emitter", type: "string", default: "", visible: "submission",
            description: "Only emitter to bake, with all colliders; all emitters if empty",
        },
        {
            key: "render_output_root", type: "string", subtype: "dir_path", required: true, visible: "submission",
            description: "Folder for the images of all jobs, on a disk that all workers share",
        },
        {
            key: "render_output_path", type: "string", subtype: "file_path", editable: false,
            eval: "str(Path(abspath(settings.render_output_root), jobname, '{timestamp}', '######'))",
            description: "Where the images of this job are written",
        },

        // filled in automatically
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The .blend file" },
        {
            key: "format", type: "string", required: true, visible: "web",
            eval: "C.scene.render.image_settings.file_format",
            description: "File format of the images",
        },
    ],
};

// Blender would render all frames of a task into one video.
const VIDEO_FORMATS = ["FFMPEG", "AVI_RAW", "AVI_JPEG"];

function compileJob(job) {
    const settings = job.settings;
    if (VIDEO_FORMATS.indexOf(settings.format) >= 0) {
        throw new Error(`The scene renders a video (${settings.format}); choose an image format.`);
    }
    if (!isAbsolute(settings.cache)) {
        throw new Error(`The cache folder "${settings.cache}" must be an absolute path that all workers share.`);
    }
    const output = settings.render_output_path.replace("{timestamp}", formatTimestampLocal(job.created));
    // the job then shows where its images really are
    settings.render_output_path = output;

    const bake = bakeTask(settings);
    job.addTask(bake);
    for (const chunk of frameChunker(settings.frames, settings.chunk_size)) {
        const render = renderTask(settings, output, chunk);
        render.addDependency(bake);
        job.addTask(render);
    }
}

// A path from a root, a drive, a server, or one of Flamenco's variables; "//" is where Blender's own relative paths begin.
function isAbsolute(path) {
    return /^([/](?![/])|[A-Za-z]:[/\\]|\\\\|[{])/.test(path || "");
}

// Bakes with `--command mpm bake`, which resumes after the frames that a worker left behind.
function bakeTask(settings) {
    const task = author.Task("bake", "blender");
    const emitter = settings.emitter ? ["--object", settings.emitter] : [];
    task.addCommand(blenderCommand(settings, ["--command", "mpm", "bake", "--cache", settings.cache].concat(emitter)));
    return task;
}

// Shows the baked frames before it renders: the file was saved before the bake, and perhaps copied elsewhere since.
// Folder and name go to Python after "--", where nothing in them needs quotes.
const SHOW = "import bpy, sys; bpy.ops.mpm.show(cache=sys.argv[-2], object=sys.argv[-1])";

function renderTask(settings, output, chunk) {
    const task = author.Task(`render-${chunk}`, "blender");
    task.addCommand(blenderCommand(settings, [
        "--python-exit-code", "1",
        "--python-expr", SHOW,
        "--render-output", output,
        "--render-format", settings.format,
        // Blender writes a range of frames with two dots
        "--render-frame", chunk.replace(/-/g, ".."),
        "--", settings.cache, settings.emitter || "",
    ]));
    return task;
}

function blenderCommand(settings, args) {
    return author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: settings.blendfile,
        args: args,
    });
}
