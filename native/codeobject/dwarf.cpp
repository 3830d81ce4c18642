#include "dwarf.h"

#include <algorithm>
#include <tuple>

#include "dwarf_cursor.h"

namespace codeobject::dwarf {
namespace {

// Addresses of code that the linker left out are -1 and what follows.
constexpr uint64_t kNowhere = uint64_t{1} << 63;

class Unit {
 public:
  Unit(const DebugSections& sections, const std::string& folder, LineTable& table, Budget& budget)
      : line_str_(sections.line_str), str_(sections.str), folder_(folder), table_(table), budget_(budget) {}

  // The number a unit gives a file -> index into the table's files.
  const std::vector<uint32_t>& files() const { return file_of_; }

  void read(Cursor unit, unsigned offset_size) {
    offset_size_ = offset_size;
    version_ = unit.fixed(2);
    if (version_ < 2 || version_ > 5) return;
    if (version_ == 5) unit.skip(2);  // address size, segment selector size
    const uint64_t header_length = unit.fixed(offset_size);
    const uint64_t program = unit.at + header_length;
    min_length_ = unit.fixed(1);
    if (version_ >= 4) unit.skip(1);  // operations per instruction: 1 on GPUs
    unit.skip(1);                     // whether a row begins a statement unless it says otherwise
    line_base_ = int8_t(unit.fixed(1));  // NOLINT(bugprone-signed-char-misuse): a signed byte
    line_range_ = unit.fixed(1);
    opcode_base_ = unit.fixed(1);
    if (!line_range_ || !opcode_base_) return;
    for (unsigned i = 1; i < opcode_base_; ++i) operand_counts_.push_back(uint8_t(unit.fixed(1)));
    if (version_ == 5) files_v5(unit);
    else files_v2(unit);
    if (unit.bad || program > unit.bytes.size()) return;
    unit.at = program;
    run(unit);
  }

 private:
  void files_v2(Cursor& in) {
    std::vector<std::string> folders{folder_};
    for (std::string name = in.text(); !name.empty() && !in.bad; name = in.text())
      folders.push_back(path(folder_, name));
    file_of_.push_back(0);  // files count from 1 here; what names none gets the first
    for (std::string name = in.text(); !name.empty() && !in.bad; name = in.text()) {
      const uint64_t folder = in.uleb();
      in.uleb();
      in.uleb();
      add_file(path(folder < folders.size() ? folders[folder] : "", name));
    }
    if (file_of_.size() > 1) file_of_[0] = file_of_[1];
    else file_of_.clear();
  }

  void files_v5(Cursor& in) {
    std::vector<std::pair<std::string, uint64_t>> folders = entries(in), files = entries(in);
    for (auto& [name, folder] : files) {
      std::string base = folder < folders.size() ? folders[folder].first : "";
      if (folder != 0 && folder < folders.size()) base = path(folders[0].first, base);
      add_file(path(base, name));
    }
  }

  std::vector<std::pair<std::string, uint64_t>> entries(Cursor& in) {
    std::vector<std::pair<uint64_t, uint64_t>> format(in.fixed(1));
    for (auto& [content, form] : format) content = in.uleb(), form = in.uleb();
    std::vector<std::pair<std::string, uint64_t>> out;
    if (format.empty()) return out;
    for (uint64_t left = in.uleb(); left > 0 && !in.bad; --left) {
      std::string name;
      uint64_t folder = 0;
      for (auto [content, form] : format) {
        std::string text;
        uint64_t number = 0;
        switch (form) {
          case 0x08: text = in.text(); break;
          case 0x0e: text = text_in(str_, in.fixed(offset_size_)); break;
          case 0x1f: text = text_in(line_str_, in.fixed(offset_size_)); break;
          case 0x0b: number = in.fixed(1); break;
          case 0x05: number = in.fixed(2); break;
          case 0x06: number = in.fixed(4); break;
          case 0x07: number = in.fixed(8); break;
          case 0x0f: number = in.uleb(); break;
          case 0x1e: in.skip(16); break;  // an MD5 sum
          case 0x09: in.skip(in.uleb()); break;
          default: in.bad = true;
        }
        budget_.spend(1 + text.size());
        if (content == 1) name = text;
        if (content == 2) folder = number;
      }
      out.emplace_back(name, folder);
    }
    return out;
  }

  std::string path(const std::string& folder, const std::string& name) {
    budget_.spend(folder.size() + name.size());
    return folder.empty() || name.starts_with('/') ? name : folder + "/" + name;
  }

  void add_file(std::string path) {
    file_of_.push_back(uint32_t(table_.files.size()));
    table_.files.push_back(std::move(path));
  }

  void run(Cursor& in) {
    Row row{0, 1, 1, 0, 0, false};
    bool dropped = false;  // code that the linker left out
    auto reset = [&] { row = {0, 1, 1, 0, 0, false}, dropped = false; };
    auto emit = [&](bool end) {
      if (file_of_.empty() || row.address >= kNowhere || dropped) return;
      budget_.spend(sizeof row / 8);
      const uint32_t file = row.file < file_of_.size() ? file_of_[row.file] : file_of_[0];
      table_.rows.push_back({row.address, file, row.line, row.column, uint32_t(table_.rows.size()), end});
    };
    while (in.at < in.bytes.size() && !in.bad) {
      const unsigned op = unsigned(in.fixed(1));
      if (op >= opcode_base_) {
        const unsigned special = op - opcode_base_;
        row.address += special / line_range_ * min_length_;
        row.line += uint32_t(line_base_ + int(special % line_range_));
        emit(false);
      } else if (op == 0) {
        const uint64_t size = in.uleb(), start = in.at;
        if (size == 0) continue;
        const uint64_t code = in.fixed(1);
        if (code == 1) {
          emit(true);
          reset();
        }
        if (code == 2)
          row.address = in.fixed(unsigned(std::min<uint64_t>(size - 1, 8))), dropped = row.address >= kNowhere;
        in.at = start;
        in.skip(size);
      } else {
        switch (op) {
          case 1: emit(false); break;
          case 2: row.address += in.uleb() * min_length_; break;
          case 3: row.line += uint32_t(in.sleb()); break;
          case 4: row.file = uint32_t(in.uleb()); break;
          case 5: row.column = uint32_t(in.uleb()); break;
          case 8: row.address += (255 - opcode_base_) / line_range_ * min_length_; break;
          case 9: row.address += in.fixed(2); break;
          default:
            for (unsigned i = 0; i < operand_counts_[op - 1]; ++i) in.uleb();
        }
      }
    }
  }

  Bytes line_str_, str_;
  const std::string& folder_;
  LineTable& table_;
  Budget& budget_;
  uint64_t version_ = 0, min_length_ = 1;
  unsigned offset_size_ = 4, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::vector<uint8_t> operand_counts_;
  std::vector<uint32_t> file_of_;  // the unit's file number -> index into table_.files
};

}  // namespace

LineTable read_lines(const DebugSections& sections, const std::map<uint64_t, std::string>& folders, Budget& budget) {
  static const std::string none;
  LineTable table;
  Cursor in{sections.line};
  while (in.at < in.bytes.size() && !in.bad) {
    const uint64_t start = in.at;
    uint64_t length = in.fixed(4);
    unsigned offset_size = 4;
    if (length == 0xffffffff) length = in.fixed(8), offset_size = 8;
    if (in.bad || length > in.bytes.size() - in.at) break;
    const auto folder = folders.find(start);
    Unit unit(sections, folder == folders.end() ? none : folder->second, table, budget);
    unit.read(Cursor{in.bytes.subspan(in.at, length)}, offset_size);
    table.units[start] = unit.files();
    in.skip(length);
  }
  std::sort(table.rows.begin(), table.rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.address, !a.end, a.order) < std::tuple(b.address, !b.end, b.order);
  });
  return table;
}

const Row* LineTable::find(uint64_t address) const {
  auto after =
      std::upper_bound(rows.begin(), rows.end(), address, [](uint64_t a, const Row& row) { return a < row.address; });
  return after == rows.begin() || (after - 1)->end ? nullptr : &*(after - 1);
}

const Row* LineTable::with_line(uint64_t address) const {
  for (const Row* row = find(address); row && !row->end; --row) {
    if (row->line) return row;
    if (row == rows.data()) break;
  }
  return nullptr;
}

}  // namespace codeobject::dwarf
